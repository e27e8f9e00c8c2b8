"""Ranks that go on without one that fails: prints who is left, the same lines however it fails.

``survivors.py [RANK]``: this rank kills itself, as it does under mpirun; without, the machine's
processor 2 is one that fails (``mpinet exec --faults node:2@STEP``).
"""

import os
import signal
import sys

from mpi4py import MPI

world = comm = MPI.COMM_WORLD
comm.Set_errhandler(MPI.ERRORS_RETURN)
FAILURES = MPI.ERR_PROC_FAILED, MPI.ERR_PROC_FAILED_PENDING, MPI.ERR_REVOKED

turn, classes = 0, set()
while turn < 8 or comm.size == world.size:  # until it has failed
    if turn == 3 and [str(world.rank)] == sys.argv[1:]:
        os.kill(os.getpid(), signal.SIGKILL)
    well = 0
    try:
        comm.allreduce(1)
        well = 1
    except MPI.Exception as error:
        classes.add(error.Get_error_class() in FAILURES)
        comm.Revoke()
    try:
        well = comm.Agree(well)
    except MPI.Exception as error:
        classes.add(error.Get_error_class() in FAILURES)
        well = 0
    turn += 1
    if not well:
        comm = comm.Shrink()
        print(world.rank, "shrinks", comm.rank, comm.size, classes <= {True})

try:
    world.send(None, 2)
except MPI.Exception as error:
    print(world.rank, "sends to it", error.Get_error_class() in FAILURES)
world.Ack_failed()
gone = world.Get_failed()
print(world.rank, "knows", gone.Translate_ranks(), comm.allgather(world.rank))
