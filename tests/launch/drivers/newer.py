"""Programs of calls that few use: spawned processes, sessions, partitions, names, windows, sockets.

``newer.py NAME`` runs one on all ranks; it prints the same lines under mpirun and mpinet exec.
"""

import socket
import sys
from itertools import chain
from operator import mul

import numpy as np
from mpi4py import MPI
from mpi4py.util.pool import ThreadPool

world = MPI.COMM_WORLD
rank, size = world.rank, world.size

CHILD = """
import sys
from mpi4py import MPI
parents = MPI.Comm.Get_parent()
own = MPI.COMM_WORLD.rank
word = parents.bcast(None, root=0)
parents.reduce(own * len(word), root=0)
both = parents.Merge(high=True)
both.allgather((sys.argv[1], own))
both.Free()
parents.Disconnect()
"""


def spawned():
    """Children add up what they are told, and the parents meet them in one communicator."""
    children = world.Spawn(sys.executable, ["-c", CHILD, "child"], maxprocs=2)
    root = MPI.ROOT if rank == 0 else MPI.PROC_NULL
    children.bcast("seven", root=root)
    total = children.reduce(None, root=root)
    both = children.Merge(high=False)
    print("spawned", rank, children.remote_size, total, both.size, both.allgather(("parent", rank)))
    both.Free()  # Open MPI 5.0.11 does not come back from Disconnect of a merged one
    children.Disconnect()


def sessions():
    """A communicator of a set of processes, without the world."""
    session = MPI.Session.Init()
    group = session.Create_group("mpi://WORLD")
    odd = MPI.Group.Incl(group, range(1, group.size, 2))
    if rank % 2:
        comm = MPI.Intracomm.Create_from_group(odd, "odd")
        print("sessions", rank, comm.rank, comm.allgather(rank))
        comm.Free()
    alone = MPI.Intracomm.Create_from_group(session.Create_group("mpi://SELF"), "alone")
    names = [session.Get_nth_pset(number) for number in range(session.Get_num_psets())]
    print(
        "sessions", rank, alone.size, group.rank, sorted(set(names) & {"mpi://WORLD", "mpi://SELF"})
    )
    alone.Free()
    session.Finalize()


def partitions():
    """A message that sets out in parts, twice, in another order."""
    right, left = (rank + 1) % size, (rank - 1) % size
    sent, got = np.zeros(12, "i"), np.zeros(12, "i")
    sending = world.Psend_init(sent, 4, right, 3)
    receiving = world.Precv_init(got, 4, left, 3)
    for turn in range(2):
        MPI.Prequest.Startall([receiving, sending])
        for part in (2, 0, 3, 1):
            sent[3 * part : 3 * part + 3] = 100 * rank + 10 * turn + part
            sending.Pready(part)
        MPI.Request.Waitall([sending, receiving])
        print("partitions", rank, turn, got.tolist())
    sending.Free()
    receiving.Free()


def names():
    """Two halves meet at a port, whose name the first one publishes."""
    half = world.Split(rank % 2)
    if rank % 2 == 0:
        port = MPI.Open_port() if rank == 0 else None
        if rank == 0:
            MPI.Publish_name("meeting of halves", port)
        world.Barrier()
        other = half.Accept(port)
        if rank == 0:
            MPI.Unpublish_name("meeting of halves", port)
            MPI.Close_port(port)
    else:
        world.Barrier()
        port = MPI.Lookup_name("meeting of halves") if half.rank == 0 else None
        other = half.Connect(port)
    print("names", rank, half.size, other.remote_size, other.allgather(rank))
    other.Disconnect()


def windows():
    """A table spread over all ranks, a counter, and a queue from whose ends all take."""
    own = np.zeros(8, "l")
    window = MPI.Win.Create(own, own.itemsize, comm=world)
    for key in range(rank, 4 * size, size):
        home, place = key % size, key // size % 4
        window.Lock(home)
        window.Accumulate(np.full(1, key * key, "l"), home, [place, 1], MPI.SUM)
        window.Unlock(home)
    window.Fence()
    one, before, taken = np.ones(1, "l"), np.zeros(1, "l"), []
    while True:
        window.Lock(0)
        window.Fetch_and_op(one, before, 0, 7)
        window.Unlock(0)
        if before[0] >= 10:
            break
        taken.append(int(before[0]))
    swapped = np.zeros(1, "l")
    window.Lock_all()
    window.Compare_and_swap(np.full(1, rank + 1, "l"), np.zeros(1, "l"), swapped, 0, 6)
    window.Unlock_all()
    window.Fence()
    winners = world.allreduce(int(swapped[0] == 0))
    print("windows", rank, own[:4].tolist(), sorted(chain(*world.allgather(taken))), winners)
    window.Free()


def halos():
    """A ring of rows whose edges are put into the neighbours' windows, by fences and by groups."""
    row = np.arange(6.0) + 10 * rank
    window = MPI.Win.Create(row, row.itemsize, comm=world)
    right, left = (rank + 1) % size, (rank - 1) % size
    window.Fence()
    window.Put(row[4:5].copy(), right, 0)
    window.Put(row[1:2].copy(), left, 5)
    window.Fence()
    near = world.group.Incl(sorted({left, right}))
    window.Post(near)
    window.Start(near)
    found = np.zeros(1)
    window.Get(found, right, 1)
    window.Complete()
    window.Wait()
    print("halos", rank, row.tolist(), found.tolist())
    window.Free()


def sockets():
    """Neighbours join what the two ends of a socket give them."""
    if rank % 2 == 0:
        with socket.create_server(("127.0.0.1", 0)) as server:
            world.ssend(server.getsockname(), rank + 1)
            world.recv(source=rank + 1)
            end = server.accept()[0]
    else:
        end = socket.create_connection(world.recv(source=rank - 1))
        world.send(None, rank - 1)
    with end:
        other = MPI.Comm.Join(end.fileno())
    print("sockets", rank, other.size, other.remote_size, other.sendrecv(rank, 0, source=0))
    other.Disconnect()


def threads():
    """A pool as that of multiprocessing, whose tasks are the rank's own threads."""
    told = []
    with ThreadPool(2) as pool:
        squares = pool.starmap(mul, [(number, number) for number in range(rank, 20)], chunksize=3)
        later = pool.map_async(abs, range(-rank, 1), callback=told.append)
        wrong = pool.apply_async(mul, ("a", "b"), error_callback=lambda e: told.append(type(e)))
        print("threads", rank, squares, later.get(), sorted(pool.imap_unordered(abs, [3, -2, 1])))
        wrong.wait()
    pool.join()
    print("threads", rank, wrong.ready(), wrong.successful(), sorted(map(str, told)))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        globals()[name]()
