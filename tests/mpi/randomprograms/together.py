"""Operations of random programs: collectives, of arrays, datatypes and objects."""

from collections.abc import Callable
from typing import Any

import numpy as np
from drawing import Matching, Program
from mpi4py import MPI

PLAIN_OPS = "SUM MAX MIN PROD".split()
WHOLE_OPS = [*PLAIN_OPS, *"BAND BOR BXOR LAND LOR LXOR".split()]
PRIME = 10007


def done(program: Program, name: str, *arguments: Any) -> str:
    """Call a collective in its blocking, nonblocking or persistent form."""
    how = program.draw.choice(["blocking", "blocking", "begun", "persistent"])
    comm = program.comm
    if how == "blocking":
        getattr(comm, name)(*arguments)
    elif how == "begun":
        getattr(comm, f"I{name.lower()}")(*arguments).Wait()
    else:
        request = getattr(comm, f"{name}_init")(*arguments)
        request.Start()
        request.Wait()
        request.Free()
    return f"{name} {how}"


def at(program: Program, root: int, thing: Any) -> Any:
    """A thing at the root, and nothing elsewhere."""
    return thing if program.rank == root else None


def from_root(program: Program) -> None:
    """Arrays from one rank to all: the same, or a part for each."""
    root, kind, count = program.root(), program.kind(), program.count()
    into = np.zeros(count, kind)
    if program.draw.random() < 0.5:
        into = program.numbers(count, kind)
        how = done(program, "Bcast", into, root)
    else:
        out = at(program, root, program.numbers((program.size, count), kind))
        in_place = program.draw.random() < 0.3 and program.rank == root
        how = done(program, "Scatter", out, MPI.IN_PLACE if in_place else into, root)
        into = out[root] if in_place else into
    program.say(how, into)


def to_root(program: Program) -> None:
    """Arrays from all ranks to one."""
    root, kind, count = program.root(), program.kind(), program.count()
    into = at(program, root, np.zeros((program.size, count), kind))
    out = program.numbers(count, kind)
    if program.draw.random() < 0.3 and program.rank == root:
        into[root], out = out, MPI.IN_PLACE
    how = done(program, "Gather", out, into, root)
    program.say(how, into)


def to_all(program: Program) -> None:
    """Arrays from all ranks to all: the same to each, or a part for each."""
    kind, count, size = program.kind(), program.count() % 400, program.size
    into = np.zeros((size, count), kind)
    in_place = program.draw.random() < 0.3
    if program.draw.random() < 0.5:
        out = program.numbers(count, kind)
        if in_place:
            into[program.rank] = out
        how = done(program, "Allgather", MPI.IN_PLACE if in_place else out, into)
    else:
        out = program.numbers((size, count), kind)
        if in_place:
            into[:] = out
        how = done(program, "Alltoall", MPI.IN_PLACE if in_place else out, into)
    program.say(how, into)


def unequal(program: Program) -> None:
    """Parts of different lengths, at drawn places."""
    draw, size, rank, root = program.draw, program.size, program.rank, program.root()
    kind = program.kind()
    lengths = [draw.randint(0, 6) for _ in range(size)]
    places, end = [], 0
    for length in draw.sample(lengths, size):
        places.append(end + draw.randint(0, 2))
        end = places[-1] + length
    order = draw.sample(range(size), size)
    starts, end = [0] * size, 0
    for who in order:
        starts[who] = end + draw.randint(0, 2)
        end = starts[who] + lengths[who]
    how = draw.choice(["Gatherv", "Scatterv", "Allgatherv"])
    own, whole = program.numbers(lengths[rank], kind), np.zeros(end + 1, kind)
    if how == "Scatterv":
        whole = program.numbers(end + 1, kind, root)
        into = np.zeros(lengths[rank], kind)
        form = done(
            program, how, at(program, root, [whole, lengths, starts, _of(kind)]), into, root
        )
        program.say(form, into)
        return
    spec = [whole, lengths, starts, _of(kind)]
    if how == "Gatherv":
        form = done(program, how, own, at(program, root, spec), root)
    else:
        form = done(program, how, own, spec)
    program.say(form, whole)


def _of(kind: str) -> Any:
    """The datatype of an array's elements."""
    return MPI._typedict[np.dtype(kind).char]


def unequal_to_all(program: Program) -> None:
    """A part of its own length from each rank to each."""
    draw, size, rank, kind = program.draw, program.size, program.rank, program.kind()
    table = [[draw.randint(0, 5) for _ in range(size)] for _ in range(size)]
    sends, receives = table[rank], [row[rank] for row in table]
    gap = draw.randint(0, 2)
    out_at = [sum(sends[:who]) + gap * who for who in range(size)]
    in_at = [sum(receives[:who]) + gap * who for who in range(size)]
    out = program.numbers(sum(sends) + gap * size + 1, kind)
    into = np.zeros(sum(receives) + gap * size + 1, kind)
    datatype = _of(kind)
    if draw.random() < 0.5:
        arguments = [out, sends, out_at, datatype], [into, receives, in_at, datatype]
        how = done(program, "Alltoallv", *arguments)
    else:
        item = np.dtype(kind).itemsize
        types = [datatype] * size
        out_bytes, in_bytes = ([item * place for place in each] for each in (out_at, in_at))
        arguments = [out, sends, out_bytes, types], [into, receives, in_bytes, types]
        how = done(program, "Alltoallw", *arguments)
    program.say(how, into)


def layouts(program: Program) -> None:
    """Collectives of nested datatypes, another one on each side."""
    root, size = program.root(), program.size
    how = program.draw.choice(["Bcast", "Gather", "Allgather", "Scatter", "Alltoall"])
    pair = Matching(program, size)
    if how == "Bcast":
        memory = pair.out() if program.rank == root else pair.into()
        form = done(program, how, memory.spec, root)
        program.say(form, memory.whole)
    elif how == "Scatter":
        out, into = pair.out(blocks=size), pair.into()
        form = done(program, how, at(program, root, out.spec), into.spec, root)
        program.say(form, into.whole)
    elif how == "Gather":
        out, into = pair.out(), pair.into(blocks=size)
        form = done(program, how, out.spec, at(program, root, into.spec), root)
        program.say(form, into.whole)
    elif how == "Allgather":
        out, into = pair.out(), pair.into(blocks=size)
        program.say(done(program, how, out.spec, into.spec), into.whole)
    else:
        out, into = pair.out(blocks=size), pair.into(blocks=size)
        program.say(done(program, how, out.spec, into.spec), into.whole)
    pair.free()


def predefined(program: Program) -> tuple[str, str, Any]:
    """Draw an element type and an operator that fits it."""
    kind = program.kind()
    names = PLAIN_OPS if kind[0] == "f" else ["SUM", "PROD"] if kind[0] == "c" else WHOLE_OPS
    name = program.draw.choice(names)
    return kind, name, getattr(MPI, name)


def unsigned(found: Any) -> Any:
    """Numbers with zeros without a sign: the sign in a complex product depends on the order."""
    return None if found is None else found + found.dtype.type(0)


def reductions(program: Program) -> None:
    """Arrays are combined by predefined operators."""
    kind, name, op = predefined(program)
    count, root, size = program.count(), program.root(), program.size
    how = program.draw.choice("Reduce Allreduce Scan Exscan Reduce_scatter_block".split())
    in_place = program.draw.random() < 0.25
    if how == "Reduce_scatter_block":
        count %= 400
        out, into = program.numbers((size, count), kind), np.zeros(count, kind)
        form = done(program, how, out, into, op)
        program.say(form, name, unsigned(into))
        return
    out, into = program.numbers(count, kind), np.zeros(count, kind)
    if in_place:
        into[:] = out
    sent = MPI.IN_PLACE if in_place and how != "Reduce" else out
    if how == "Reduce":
        if in_place and program.rank == root:
            sent = MPI.IN_PLACE
        form = done(program, how, sent, at(program, root, into), op, root)
        into = at(program, root, into)
    else:
        form = done(program, how, sent, into, op)
    if how == "Exscan" and program.rank == 0:
        into = None  # undefined by the standard
    program.say(form, name, unsigned(into))


def pieces(program: Program) -> None:
    """Arrays are combined, and every rank gets a part of its own length."""
    kind, name, op = predefined(program)
    counts = [program.draw.randint(0, 5) for _ in range(program.size)]
    out, into = program.numbers(sum(counts), kind), np.zeros(counts[program.rank], kind)
    form = done(program, "Reduce_scatter", out, into, counts, op)
    program.say(form, name, unsigned(into))


def _matrices(one: Any, other: Any, _: Any) -> None:
    """Multiply two-by-two matrices; the order matters."""
    a, b = (np.frombuffer(each, "i8").reshape(-1, 2, 2) for each in (one, other))
    b[:] = a @ b % PRIME


def _halves(one: Any, other: Any, _: Any) -> None:
    """Add numbers, and wrap them around."""
    a, b = (np.frombuffer(each, "i8") for each in (one, other))
    b[:] = (a + b) % PRIME


def own_operators(program: Program) -> None:
    """Arrays are combined by operators of the program's own."""
    draw, root = program.draw, program.root()
    commutes = draw.random() < 0.5
    op = MPI.Op.Create(_halves if commutes else _matrices, commutes)
    count = draw.randint(1, 5)
    datatype = MPI.INT64_T.Create_contiguous(4).Commit()
    out, into = np.abs(program.numbers(4 * count, "i8")), np.zeros(4 * count, "i8")
    how = draw.choice(["Reduce", "Allreduce", "Scan", "Exscan"])
    specs: list[Any] = [[out, count, datatype], [into, count, datatype]]
    if how == "Reduce":
        specs[1] = at(program, root, specs[1])
        program.comm.Reduce(*specs, op, root)
    else:
        getattr(program.comm, how)(*specs, op)
    if how == "Exscan" and program.rank == 0:
        into[:] = 0
    program.say(how, commutes, into)
    datatype.Free()
    op.Free()


def places(program: Program) -> None:
    """The largest or smallest value and its rank."""
    draw = program.draw
    op = draw.choice([MPI.MINLOC, MPI.MAXLOC])
    value = (float(program.numbers(1)[0]), program.rank)
    pairs = np.zeros(3, [("value", "f8"), ("place", "i4")])
    pairs["value"], pairs["place"] = program.numbers(3), program.rank
    into = pairs.copy()
    out_bytes, in_bytes = (each.view("u1") for each in (pairs, into))
    packed = np.dtype([("value", "f8"), ("place", "i4")], align=True)
    out, got = np.zeros(3, packed), np.zeros(3, packed)
    out["value"], out["place"] = pairs["value"], pairs["place"]
    program.comm.Allreduce([out, 3, MPI.DOUBLE_INT], [got, 3, MPI.DOUBLE_INT], op)
    program.say(len(out_bytes), len(in_bytes), got.tolist(), program.comm.allreduce(value, op))


def _joined(one: Any, other: Any) -> Any:
    """Join two tuples; the order matters."""
    return one + other


def objects(program: Program) -> None:
    """Collectives of objects."""
    comm, draw, root = program.comm, program.draw, program.root()
    thing: Any = (program.rank, program.numbers(2).tolist(), draw.choice(["a", None, 1.5]))
    row = [(program.rank, who, draw.randrange(9)) for who in range(program.size)]
    calls: dict[str, Callable[[], Any]] = {
        "bcast": lambda: comm.bcast(thing, root),
        "gather": lambda: comm.gather(thing, root),
        "scatter": lambda: comm.scatter(at(program, root, row), root),
        "allgather": lambda: comm.allgather(thing),
        "alltoall": lambda: comm.alltoall(row),
        "reduce": lambda: comm.reduce(thing, _joined, root),
        "allreduce": lambda: comm.allreduce(thing, _joined),
        "allreduce sum": lambda: comm.allreduce(program.rank + 0.5),
        "scan": lambda: comm.scan(thing[:1], _joined),
        "exscan": lambda: comm.exscan(program.rank, MPI.MAX),
        "barrier": comm.barrier,
    }
    for name in draw.sample(sorted(calls), 3):
        program.say(name, calls[name]())


def several_begun(program: Program) -> None:
    """Several collectives are begun, and completed in another order."""
    draw, comm, size = program.draw, program.comm, program.size
    one, two, three = np.zeros(3), np.zeros((size, 2), "i4"), program.numbers(4, "f4")
    requests = [
        comm.Iallreduce(program.numbers(3), one, MPI.MAX),
        comm.Iallgather(program.numbers(2, "i4"), two),
        comm.Ibcast(three, program.root()),
        comm.Ibarrier(),
    ]
    for place in draw.sample(range(len(requests)), len(requests)):
        requests[place].Wait()
    program.say(one, two, three)
