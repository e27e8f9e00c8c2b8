"""Programs of windows: each prints what does not depend on who comes first.

``windows.py [NAME ..]``: a halo exchange by puts, a hash table that all insert into, work that is
stolen, queues of work that grows, a pipeline by Post and Start, a shared table, memory that is
attached later.
"""

import sys

import numpy as np
from mpi4py import MPI

comm = MPI.COMM_WORLD
rank, size = comm.Get_rank(), comm.Get_size()


def halo() -> object:
    """Heat on a ring: every rank puts its ends into its neighbours' halos."""
    cells = np.zeros(6)
    window = MPI.Win.Create(cells, cells.itemsize, comm=comm)
    cells[1:5] = 100.0 * (rank == 0)
    window.Fence()
    for _ in range(12):
        window.Put(cells[1:2].copy(), (rank - 1) % size, 5)
        window.Put(cells[4:5].copy(), (rank + 1) % size, 0)
        window.Fence()
        cells[1:5] += (cells[:4] - 2 * cells[1:5] + cells[2:]) / 4
        window.Fence()
    window.Free()
    return cells[1:5].round(6).tolist()


def table() -> object:
    """A hash table with a part on every rank; slots are claimed by compare-and-swap."""
    slots, keys = 16, [1 + 7 * rank + 3 * number for number in range(6)]
    window = MPI.Win.Allocate(8 * slots, 8, comm=comm)
    held = np.frombuffer(window, "i8")
    window.Lock(rank)
    held[:] = 0
    window.Unlock(rank)
    comm.Barrier()
    found = np.zeros(1, "i8")
    window.Lock_all()
    for key in keys:
        owner, slot = key % size, key // size % slots
        while True:
            window.Compare_and_swap(np.array([key]), np.array([0]), found, owner, slot)
            window.Flush(owner)
            if found[0] in (0, key):
                break
            slot = (slot + 1) % slots
    window.Unlock_all()
    comm.Barrier()
    mine = sorted(held[held > 0].tolist())
    window.Free()
    return mine


def stealing() -> object:
    """Every rank takes tasks from its own counter, and then from the others'."""
    tasks = 5
    window = MPI.Win.Allocate(16, 8, comm=comm)
    np.frombuffer(window, "i8")[:] = 0
    comm.Barrier()
    one, taken, done = np.array([1]), np.zeros(1, "i8"), []
    for step in range(size):
        victim = (rank + step) % size
        while True:
            window.Lock(victim, MPI.LOCK_SHARED)
            window.Fetch_and_op(one, taken, victim, 0)
            window.Unlock(victim)
            if taken[0] >= tasks:
                break
            done.append(victim * tasks + int(taken[0]))
            window.Lock(victim, MPI.LOCK_SHARED)
            window.Accumulate(np.array([int(taken[0])]), victim, 1)
            window.Unlock(victim)
    everything = sorted(task for share in comm.allgather(done) for task in share)
    assert everything == list(range(size * tasks))
    summed = int(np.frombuffer(window, "i8")[1])
    window.Free()
    return summed


def queens(placed: list[int], side: int) -> list[list[int]]:
    """Return all boards with one queen more in the next row, where no other one sees it."""
    rows = list(enumerate(reversed(placed), 1))
    free = (c for c in range(1, side + 1) if all(abs(c - d) not in (0, row) for row, d in rows))
    return [[*placed, column] for column in free]


def queue() -> object:
    """Boards are tasks that make new ones, in a queue on every rank; who has none steals half."""
    side, window = 5, MPI.Win.Allocate(8 * 200, 8, comm=comm)
    memory = np.frombuffer(window, "i8")  # tasks that are open anywhere, the queue's ends, tasks
    memory[:], memory[0] = 0, rank == 0
    ends, done = np.zeros(2, "i8"), np.zeros(2, "i8")

    def changed(victim: int, tasks: list[int] | None = None) -> list[int]:
        """Put tasks into the own queue; or take its youngest, or a half of another one."""
        window.Lock(victim)
        window.Get(ends, victim, 1)
        window.Flush(victim)
        first, behind = ends.tolist()
        if tasks is not None:
            window.Put(np.array(tasks, "i8"), victim, 3 + behind)
            ends[1] += len(tasks)
        start = behind - 1 if victim == rank else first
        stop = behind if victim == rank else (first + behind + 1) // 2
        found = np.zeros(stop - start if tasks is None and first < behind else 0, "i8")
        if len(found):
            window.Get(found, victim, 3 + start)
            ends[:] = (first, start) if victim == rank else (stop, behind)
        ends[:] *= ends[0] < ends[1]  # an empty queue begins anew
        window.Put(ends, victim, 1)
        window.Unlock(victim)
        return found.tolist()

    def still_open(change: int) -> int:
        """Change how many tasks are open; how many there were."""
        before = np.zeros(1, "i8")
        window.Lock(0, MPI.LOCK_SHARED)
        window.Fetch_and_op(np.array([change]), before, 0, 0)
        window.Unlock(0)
        return int(before[0])

    comm.Barrier()
    if rank == 0:
        changed(rank, [0])
    while True:
        victims = ((rank + step) % size for step in range(size))
        own, *others = next(filter(None, map(changed, victims)), [None])
        if own is None:
            if still_open(0) == 0:
                break
            continue
        boards = queens([int(digit) for digit in str(own) if own], side)
        done += [1, own > 10 ** (side - 1)]
        changed(rank, others + [int("".join(map(str, board))) for board in boards])
        still_open(len(boards) - 1)
    total = np.zeros(2, "i8")
    comm.Allreduce(done, total)
    window.Free()
    levels = [[[]]]
    for _ in range(side):
        levels.append([board for placed in levels[-1] for board in queens(placed, side)])
    assert total.tolist() == [sum(map(len, levels)), len(levels[-1])]
    return total.tolist()


def pipeline() -> object:
    """Each rank puts what it has got, and its own number, to the next by Post and Start."""
    room = np.full(size, -1)
    window = MPI.Win.Create(room, room.itemsize, comm=comm)
    group = comm.Get_group()
    if rank:
        window.Post(group.Incl([rank - 1]))
        window.Wait()
    if rank + 1 < size:
        room[rank] = rank * rank
        window.Start(group.Incl([rank + 1]))
        window.Put(room[: rank + 1], rank + 1)
        window.Complete()
    comm.Barrier()
    window.Free()
    return room.tolist()


def shared() -> object:
    """All ranks store into one table, and read what the others have stored."""
    window = MPI.Win.Allocate_shared(8, 8, comm=comm)
    memory, unit = window.Shared_query(0)
    numbers = np.frombuffer(memory, "i8")
    whole = np.ndarray(size, "i8", buffer=MPI.buffer.fromaddress(memory.address, 8 * size))
    window.Fence()
    whole[rank] = 10 + rank
    window.Fence()
    seen = whole.tolist()
    window.Fence()
    window.Free()
    return [unit, len(numbers), *seen]


def attached() -> object:
    """Memory that is attached later, and reached by its address."""
    window = MPI.Win.Create_dynamic(comm=comm)
    memory = np.zeros(4)
    window.Attach(memory)
    addresses = comm.allgather(MPI.Get_address(memory))
    target = (rank + 1) % size
    window.Fence()
    window.Put(np.array([rank + 0.5]), target, addresses[target] + 8)
    window.Accumulate(np.array([2.0]), 0, addresses[0])
    window.Fence()
    window.Detach(memory)
    window.Free()
    return memory.tolist()


def strided() -> object:
    """A column of a matrix is put, and rows are combined by maximum with a request."""
    matrix = np.zeros((4, 4), "i4")
    window = MPI.Win.Create(matrix, 4, comm=comm)
    column = MPI.INT.Create_vector(4, 1, 4).Commit()
    target = (rank + 1) % size
    window.Fence()
    window.Put(np.arange(4, dtype="i4") + rank, target, [1, 1, column])
    window.Fence()
    got = np.zeros(4, "i4")
    window.Get([got, 4, MPI.INT], target, [1, 1, column])
    window.Fence()
    column.Free()
    before = np.zeros(4, "i4")
    window.Lock(0)
    window.Get_accumulate(np.full(4, rank, "i4"), before, 0, [8, 4, MPI.INT], MPI.MAX)
    window.Unlock(0)
    comm.Barrier()
    value = np.zeros(1, "i4")
    window.Lock(0, MPI.LOCK_SHARED)
    window.Rget(value, 0, 10).Wait()
    window.Unlock(0)
    comm.Barrier()
    window.Free()
    return [got.tolist(), matrix[:, 1].tolist(), int(value[0])]


PROGRAMS = {
    program.__name__: program
    for program in (halo, table, stealing, queue, pipeline, shared, attached, strided)
}

for name in sys.argv[1:] or PROGRAMS:
    print(rank, name, PROGRAMS[name]())
