"""Prints in all ways, and lets the order of arrivals be seen."""

import atexit
import sys

from mpi4py import MPI

comm = MPI.COMM_WORLD
me, n = comm.Get_rank(), comm.Get_size()


class Thing:
    """Something that can be pickled by the name it has in this script."""

    def __init__(self, rank):
        self.rank = rank


atexit.register(lambda: print("the end of", me, comm.allreduce(1)))
for turn in range(3):
    comm.send(Thing(me), dest=(me * me + turn) % n, tag=turn)
comm.Barrier()
while comm.Iprobe():
    print(me, "gets", comm.recv().rank, flush=True)
    sys.stdout.buffer.write(b"one more\n")
print(me, comm.allgather(me), file=sys.stderr)
sys.stdout.write(f"{comm.exscan(me)} {sys.argv[1:]} {__name__}\n")
sys.exit(0)
