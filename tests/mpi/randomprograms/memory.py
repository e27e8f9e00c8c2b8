"""Operations of random programs: windows and files."""

import os
from typing import Any

import numpy as np
from drawing import Matching, Program
from mpi4py import MPI

OPS = "SUM MAX MIN PROD BAND BOR BXOR REPLACE".split()


def fences(program: Program) -> None:
    """Puts, gets and accumulates between fences, none of which meet another one."""
    draw, comm, size, rank = program.draw, program.comm, program.size, program.rank
    kind, each = draw.choice(["i4", "f8", "i2", "u1"]), draw.randint(1, 6)
    memory = program.numbers((size, each), kind)
    window = MPI.Win.Create(memory, memory.itemsize, comm=comm)
    for _ in range(draw.randint(1, 3)):
        how = draw.choice(["Put", "Get", "Accumulate"])
        to, length = (rank + draw.randrange(size)) % size, draw.randint(0, each)
        first = draw.randint(0, each - length)
        own = program.numbers(length, kind, salt=3)
        datatype = MPI._typedict[np.dtype(kind).char]
        target = [rank * each + first, length, datatype]
        op = getattr(MPI, draw.choice(OPS if kind != "f8" else OPS[:3]))
        window.Fence()
        if how == "Put":
            window.Put(own, to, target)
        elif how == "Get":
            window.Get(own, to, target)
        else:
            window.Accumulate(own, to, target, op)
        window.Fence()
        program.say(how, own, memory.copy())
    window.Free()


def layouts(program: Program) -> None:
    """Memory of nested datatypes is put and got."""
    comm, pair, (to, _) = program.comm, Matching(program), program.shift()
    memory, out = pair.into(), pair.out()
    window = MPI.Win.Create(memory.whole, 1, comm=comm)
    target = [memory.origin, pair.received[1], pair.received[0].datatype]
    window.Fence()
    window.Put(out.spec, to, target)
    window.Fence()
    program.say("put", memory.whole)
    back = pair.out(salt=9)
    window.Fence()
    window.Get(back.spec, to, target)
    window.Fence()
    program.say("got", back.whole)
    window.Free()
    pair.free()


def locks(program: Program) -> None:
    """Counters under locks: what all have added does not depend on the order."""
    draw, comm, size = program.draw, program.comm, program.size
    window = MPI.Win.Allocate(8 * 4, 8, comm=comm)
    memory = np.frombuffer(window, "i8")
    memory[:] = 0
    comm.Barrier()
    times, seen, owner = draw.randint(1, 5), [], program.root()
    kind = draw.choice([MPI.LOCK_SHARED, MPI.LOCK_EXCLUSIVE])
    before = np.zeros(1, "i8")
    for _ in range(times):
        window.Lock(owner, kind)
        window.Fetch_and_op(np.ones(1, "i8"), before, owner, 0)
        window.Unlock(owner)
        seen.append(int(before[0]))
    everyone = sorted(n for part in comm.allgather(seen) for n in part)
    window.Lock_all()
    long = MPI._typedict["l"]  # the datatype that mpi4py takes for the arrays
    for to in range(size):
        window.Accumulate(np.array([program.rank + 1, 1], "l"), to, [1, 2, long])
        window.Flush(to)
    window.Raccumulate(np.array([3], "l"), owner, [3, 1, long], MPI.MAX).Wait()
    window.Unlock_all()
    comm.Barrier()
    window.Lock(program.rank)
    program.say(everyone == list(range(times * size)), memory.copy())
    window.Unlock(program.rank)
    window.Free()


def exchanged(program: Program) -> None:
    """Swaps and fetches, one rank after another."""
    comm, size, owner = program.comm, program.size, program.root()
    window = MPI.Win.Allocate(8 * size, 8, comm=comm)
    np.frombuffer(window, "i8")[:] = -1
    found = np.zeros(size, "i8")
    for turn in range(size):
        comm.Barrier()
        if turn == program.rank:
            window.Lock(owner)
            one = np.zeros(1, "i8")
            own, free = np.array([turn], "i8"), np.array([-1], "i8")
            window.Compare_and_swap(own, free, one, owner, turn // 2)
            window.Flush(owner)
            window.Get_accumulate(program.numbers(size, "i8"), found, owner, 0, MPI.NO_OP)
            window.Unlock(owner)
            program.say(one, found)
    comm.Barrier()
    rows = np.zeros(size, "i8")
    window.Lock(owner, MPI.LOCK_SHARED)
    window.Rget(rows, owner).Wait()
    window.Unlock(owner)
    program.say(rows)
    window.Free()


def posted(program: Program) -> None:
    """Ranks open and reach windows of drawn groups."""
    comm, size, rank = program.comm, program.size, program.rank
    distance = program.draw.randrange(1, size) if size > 1 else 0
    if not distance:
        return
    memory = program.numbers(size * 2, "f4")
    window = MPI.Win.Create(memory, 4, comm=comm)
    group = comm.Get_group()
    sources, targets = (
        group.Incl([(rank - distance) % size]),
        group.Incl([(rank + distance) % size]),
    )
    window.Post(sources)
    window.Start(targets)
    window.Put(program.numbers(2, "f4", salt=5), (rank + distance) % size, [2 * rank, 2, MPI.FLOAT])
    window.Complete()
    window.Wait()
    program.say(memory)
    for each in (group, sources, targets, window):
        each.Free()


def shared(program: Program) -> None:
    """All ranks store into memory that they share."""
    comm, size = program.comm, program.size
    window = MPI.Win.Allocate_shared(8 * 3, 8, comm=comm)
    begin, unit = window.Shared_query(0)
    whole = np.ndarray(3 * size, "f8", MPI.buffer.fromaddress(begin.address, 24 * size))
    window.Fence()
    whole[3 * program.rank : 3 * program.rank + 3] = program.numbers(3)
    window.Fence()
    program.say(unit, whole.copy())
    window.Fence()
    window.Free()


def _opened(program: Program, name: str, comm: Any = None) -> Any:
    path = os.path.join(program.folder, f"file-{program.seed}-{program.place}-{name}")
    return MPI.File.Open(comm or program.comm, path, MPI.MODE_CREATE | MPI.MODE_RDWR)


def blocks(program: Program) -> None:
    """Parts of a file are written and read by all ranks, at explicit places."""
    draw, size, rank, comm = program.draw, program.size, program.rank, program.comm
    kind, each = draw.choice(["i4", "f8", "u1"]), draw.randint(1, 9)
    file = _opened(program, "blocks")
    own, item = program.numbers(each, kind), np.dtype(kind).itemsize
    how = draw.choice(["Write_at", "Write_at_all", "Iwrite_at"])
    request = getattr(file, how)(rank * each * item, own)
    if request is not None:
        request.Wait()
    file.Sync()
    comm.Barrier()
    file.Sync()
    into, status = np.zeros(each + 2, kind), MPI.Status()
    how = draw.choice(["Read_at", "Read_at_all"])
    getattr(file, how)((rank + 1) % size * each * item, into, status)
    # Open MPI reports the requested bytes of a collective read that ends at the end of the file.
    count = status.Get_count(MPI.BYTE) if how == "Read_at" else None
    program.say(how, count, into, file.Get_size())
    file.Close()


def views(program: Program) -> None:
    """Ranks see their own elements of a file, interleaved with those of the others."""
    draw, size, rank, comm = program.draw, program.size, program.rank, program.comm
    each, rounds = draw.randint(1, 4), draw.randint(1, 4)
    file, header = _opened(program, "views"), draw.randint(0, 9)
    kind = MPI.INT.Create_vector(1, each, each).Create_resized(0, 4 * each * size).Commit()
    file.Set_view(header + 4 * each * rank, MPI.INT, kind)
    own = program.numbers((rounds, each), "i4")
    if draw.random() < 0.5:
        file.Write_all(own)
    else:
        for row in own:
            file.Write(row)
    at = file.Get_position(), file.Get_byte_offset(each)
    file.Sync()
    comm.Barrier()
    file.Sync()
    file.Set_view()
    whole = np.zeros(file.Get_size(), "u1")
    file.Read_at_all(0, whole)
    file.Set_view(header, MPI.INT)
    some = np.zeros(5, "i4")
    file.Seek(draw.randint(0, 3))
    file.Read(some)
    program.say(at, whole[header:], some, file.Get_position())
    kind.Free()
    file.Close()


def layouts_in_files(program: Program) -> None:
    """Memory of nested datatypes is written and read."""
    pair = Matching(program)
    file = _opened(program, f"memory-{program.rank}", MPI.COMM_SELF)
    out, into = pair.out(), pair.into()
    file.Write_at(3, out.spec)
    file.Read_at(3, into.spec)
    program.say(file.Get_size(), into.whole)
    file.Close()
    pair.free()


def by_rank(program: Program) -> None:
    """Lines of different lengths are written by rank, and read by rank."""
    draw, comm = program.draw, program.comm
    file = _opened(program, "ordered")
    for number in range(draw.randint(1, 3)):
        file.Write_ordered(f"{number} of {program.rank} {'x' * (program.rank + number)}\n".encode())
    position = file.Get_position_shared()
    comm.Barrier()
    file.Seek_shared(0)
    part = bytearray(5 + program.rank)
    file.Read_ordered(part)
    comm.Barrier()
    size = file.Get_size()
    whole = bytearray(size)
    file.Read_at(0, whole)
    program.say(position, size, bytes(part), bytes(whole))
    file.Close()
