"""Operations of random programs: messages from rank to rank."""

from typing import Any

import numpy as np
from drawing import Matching, Program, failing
from mpi4py import MPI

SENDS = "Send Ssend Isend Issend Bsend Ibsend".split()


def told(status: Any, datatype: Any = MPI.BYTE) -> tuple[int, ...]:
    """What a status tells of a message."""
    count = status.Get_count(datatype)
    return status.Get_source(), status.Get_tag(), count, status.Get_elements(MPI.BYTE)


def completed(program: Program, requests: list[Any]) -> None:
    """Complete requests by a drawn call."""
    how = program.draw.choice("Wait Waitall Waitany Waitsome Test Testall Testany Testsome".split())
    if how == "Waitall":
        MPI.Request.Waitall(requests)
    elif how in ("Wait", "Test"):
        for request in requests:
            if how == "Wait":
                request.Wait()
            while how == "Test" and not request.Test():
                pass
    elif how == "Testall":
        while not MPI.Request.Testall(requests):
            pass
    else:
        left = len(requests)
        while left:
            if how == "Waitany":
                MPI.Request.Waitany(requests)
                left -= 1
            elif how == "Testany":
                left -= MPI.Request.Testany(requests)[0] != MPI.UNDEFINED
            else:
                left -= len(getattr(MPI.Request, how)(requests) or ())


def sent(program: Program, how: str, spec: Any, to: int, tag: int) -> list[Any]:
    """Send in a mode; return the requests that are left to complete."""
    request = getattr(program.comm, how)(spec, to, tag)
    return [] if request is None else [request]


def arrays(program: Program) -> None:
    """Arrays go around, in a drawn mode, and are received by a drawn call."""
    draw, comm = program.draw, program.comm
    kind, count, tag = program.kind(), program.count(), draw.randrange(100)
    to, source = program.shift()
    how = draw.choice(["Isend", "Issend", "Sendrecv", "Isendrecv", "Send"])
    waits = draw.choice(["Irecv", "Recv"])
    if draw.random() < 0.3:
        source = MPI.ANY_SOURCE
    got_tag = draw.choice([tag, MPI.ANY_TAG])
    out, into = program.numbers(count, kind), np.zeros(count + draw.randrange(3), kind)
    status = MPI.Status()
    if how == "Sendrecv":
        comm.Sendrecv(out, to, tag, into, source, got_tag, status)
    elif how == "Isendrecv":
        comm.Isendrecv(out, to, tag, into, source, got_tag).Wait(status)
    elif waits == "Recv" and how != "Send":
        requests = sent(program, how, out, to, tag)
        comm.Recv(into, source, got_tag, status)
        completed(program, requests)
    else:
        request = comm.Irecv(into, source, got_tag)
        requests = sent(program, how if how != "Send" else "Isend", out, to, tag)
        request.Wait(status)
        completed(program, requests)
    program.say(how, told(status), into)


def layouts(program: Program) -> None:
    """Memory of nested datatypes goes around, and is received with another datatype."""
    draw, comm = program.draw, program.comm
    pair, tag = Matching(program), draw.randrange(100)
    to, source = program.shift()
    out, into, status = pair.out(), pair.into(), MPI.Status()
    how = draw.choice(["Sendrecv", "Isend", "Issend", "persistent", "posted"])
    if how == "Sendrecv":
        comm.Sendrecv(out.spec, to, tag, into.spec, source, tag, status)
    elif how == "persistent":
        receive, send = comm.Recv_init(into.spec, source, tag), comm.Send_init(out.spec, to, tag)
        for _ in range(2):
            MPI.Prequest.Startall([receive, send])
            MPI.Request.Waitall([receive, send], [status])
            out.whole[:] = out.whole[::-1].copy()
        receive.Free()
        send.Free()
    elif how == "posted":
        request = comm.Irecv(into.spec, source, tag)
        completed(program, [request, comm.Isend(out.spec, to, tag)])
        status.Set_source(source)
        status.Set_tag(tag)
        status.Set_elements(MPI.BYTE, len(into.places))
    else:
        requests = sent(program, how, out.spec, to, tag)
        comm.Recv(into.spec, source, tag, status)
        completed(program, requests)
    program.say(how, told(status), into.whole)
    pair.free()


def replaced(program: Program) -> None:
    """Memory of a datatype is replaced by that of another rank."""
    pair, (to, source) = Matching(program), program.shift()
    memory, status = pair.out(), MPI.Status()
    program.comm.Sendrecv_replace(memory.spec, to, 3, source, 3, status)
    program.say(told(status), memory.whole)
    pair.free()


def short(program: Program) -> None:
    """A message fills only a part of its receive."""
    pair, (to, source) = Matching(program), program.shift()
    into, status = pair.into(), MPI.Status()
    part = program.draw.randint(0, pair.elements)
    out = program.numbers(part, pair.kind)
    spec = [out, part, getattr(MPI, pair.base)]
    program.comm.Sendrecv(spec, to, 0, into.spec, source, 0, status)
    base = getattr(MPI, pair.base)
    program.say(status.Get_elements(base), status.Get_count(base), into.whole)
    pair.free()


def truncated(program: Program) -> None:
    """A message is longer than its receive."""
    count, (to, source) = program.draw.randint(1, 50), program.shift()
    short_by = program.draw.randint(1, count)
    into = np.zeros(count - short_by, "i4")
    request = program.comm.Isend(program.numbers(count, "i4"), to)
    how = failing(program.comm.Recv, into, source)
    request.Wait()
    program.say(how)


def objects(program: Program) -> None:
    """Objects go around, in a drawn mode."""
    draw, comm, (to, source) = program.draw, program.comm, program.shift()
    how = draw.choice(["sendrecv", "isend", "issend", "ibsend", "mprobe", "irecv"])
    things = [None, "text", 2**70, (1, {"a": [program.rank]}), b"x" * program.count()]
    thing = (draw.choice(things), program.numbers(3).tolist())
    status = MPI.Status()
    if how == "sendrecv":
        got = comm.sendrecv(thing, to, 1, None, source, 1, status)
    elif how == "irecv":
        request = comm.irecv(20_000, source, 1)
        request_out = comm.isend(thing, to, 1)
        got = request.wait(status)
        request_out.wait()
    else:
        attached = how == "ibsend"
        if attached:
            MPI.Attach_buffer(bytearray(40_000))
        request = getattr(comm, how if how != "mprobe" else "isend")(thing, to, 1)
        got = comm.mprobe(source, 1).recv(status) if how == "mprobe" else None
        got = comm.recv(None, source, 1, status) if how != "mprobe" else got
        request.wait()
        if attached:
            MPI.Detach_buffer()
    program.say(how, status.Get_source(), status.Get_tag(), got)


def probed(program: Program) -> None:
    """The length of a message is learnt by a probe."""
    draw, comm, (to, source) = program.draw, program.comm, program.shift()
    kind, tag = program.kind(), draw.randrange(9)
    how = draw.choice(["Probe", "Iprobe", "Mprobe", "Improbe"])
    out, status = program.numbers(program.draw.randrange(40) + to % 3, kind), MPI.Status()
    datatype = MPI._typedict[np.dtype(kind).char]
    request = comm.Isend(out, to, tag)
    wanted = draw.choice([source, MPI.ANY_SOURCE]), draw.choice([tag, MPI.ANY_TAG])
    message = None
    if how in ("Probe", "Mprobe"):
        message = getattr(comm, how)(*wanted, status)
    else:
        while not (message := getattr(comm, how)(*wanted, status)):
            pass
    into = np.zeros(status.Get_count(datatype), kind)
    if "M" in how or "m" in how:
        message.Recv(into)
    else:
        comm.Recv(into, status.Get_source(), status.Get_tag())
    request.Wait()
    program.say(how, told(status), into)


def gathered_from_any(program: Program) -> None:
    """A rank takes a message of every other one, whichever comes first."""
    comm, root = program.comm, program.root()
    kind = program.kind()
    requests = [comm.Isend(program.numbers(4, kind), root, program.rank)]
    if program.rank == root:
        found = []
        for _ in range(program.size):
            into, status = np.zeros(4, kind), MPI.Status()
            comm.Recv(into, MPI.ANY_SOURCE, MPI.ANY_TAG, status)
            found.append((*told(status), into.tolist()))
        program.say(sorted(found, key=repr))
    completed(program, requests)


def out_of_order(program: Program) -> None:
    """Messages of one sender are received in another order, by their tags."""
    draw, comm, (to, source) = program.draw, program.comm, program.shift()
    tags = [draw.randrange(3) for _ in range(draw.randint(1, 12))]
    order = draw.sample(tags, len(tags))
    posted = draw.random() < 0.5
    intos = [np.zeros(3, "i8") for _ in tags]
    receives = (
        [comm.Irecv(i, source, t) for i, t in zip(intos, order, strict=True)] if posted else []
    )
    requests = [
        comm.Isend(program.numbers(3, "i8", salt=number), to, tag)
        for number, tag in enumerate(tags)
    ]
    for into, tag in zip(intos, order, strict=True):
        if not posted:
            comm.Recv(into, source, tag)
    completed(program, receives + requests)
    program.say(np.array(intos))


def nowhere(program: Program) -> None:
    """Sends to no rank and receives from none."""
    status, into = MPI.Status(), np.full(3, 7.0)
    edge = MPI.PROC_NULL
    program.comm.Sendrecv(np.ones(2), edge, 0, into, edge, 0, status)
    said = told(status)
    program.comm.Send(np.ones(2), edge)
    request = program.comm.Irecv(into, edge)
    request.Wait(status)
    got = program.comm.sendrecv(1, edge, source=edge)
    program.say(said, told(status), got, into, program.comm.recv(source=edge))


def persistent(program: Program) -> None:
    """Persistent requests are started several times."""
    draw, comm, (to, source) = program.draw, program.comm, program.shift()
    kind, count, times = program.kind(), program.count(), draw.randint(1, 4)
    mode = draw.choice(["Send_init", "Ssend_init"])
    out, into = program.numbers(count, kind), np.zeros(count, kind)
    requests = [comm.Recv_init(into, source, 2), getattr(comm, mode)(out, to, 2)]
    for _ in range(times):
        MPI.Prequest.Startall(requests)
        completed(program, requests)
        program.say(mode, into)
        out += into
        into[:] = 0
    for request in requests:
        request.Free()


def partitioned(program: Program) -> None:
    """A message is sent in parts that are ready in any order."""
    draw, comm = program.draw, program.comm
    parts = draw.randint(1, 6)
    to, source = (program.rank + 1) % program.size, (program.rank - 1) % program.size
    order = draw.sample(range(parts), parts)
    out, into = program.numbers(parts * 5), np.zeros(parts * 5)
    send, receive = comm.Psend_init(out, parts, to, 4), comm.Precv_init(into, parts, source, 4)
    for _ in range(2):
        MPI.Prequest.Startall([send, receive])
        for part in order:
            send.Pready(part)
        MPI.Request.Waitall([send, receive])
        program.say(into)
        out *= 3
    send.Free()
    receive.Free()


def packed(program: Program) -> None:
    """Memory of a datatype is packed, sent as bytes and unpacked elsewhere."""
    comm, pair, (to, source) = program.comm, Matching(program), program.shift()
    out, into = pair.out(), pair.into()
    body = bytearray(pair.sent[0].datatype.Pack_size(pair.sent[1], comm))
    end = pair.sent[0].datatype.Pack(out.elements, body, 0, comm)
    got = bytearray(end)
    comm.Sendrecv([body, end, MPI.PACKED], to, 0, [got, end, MPI.PACKED], source, 0)
    pair.received[0].datatype.Unpack(got, 0, into.elements, comm)
    program.say(end, into.whole)
    pair.free()


def wrong(program: Program) -> None:
    """Wrong calls fail with the same classes of errors."""
    comm, draw, data = program.comm, program.draw, np.zeros(4)
    frozen = np.zeros(4)
    frozen.flags.writeable = False
    calls: dict[str, Any] = {
        "rank": lambda: comm.Send(data, comm.size),
        "negative rank": lambda: comm.Send(data, -77),
        "tag": lambda: comm.Send(data, 0, -5),
        "source": lambda: comm.Recv(data, comm.size + 3),
        "root": lambda: comm.Bcast(data, comm.size),
        "frozen": lambda: comm.Recv(frozen, 0),
        "columns": lambda: comm.Send(np.zeros((4, 4))[:, 1], 0),
        "objects": lambda: comm.Send(np.array([None, {}]), 0),
        "number": lambda: comm.Send(3, 0),
        "order": lambda: comm.Send(np.zeros(3, ">f8"), 0),
        "count": lambda: comm.Send([data, -1, MPI.DOUBLE], 0),
        "named": lambda: comm.Send([data, "nothing"], 0),
        "null": lambda: MPI.COMM_NULL.Send(data, 0),
        "null rank": lambda: MPI.COMM_NULL.Get_rank(),
        "uncommitted": lambda: comm.Send([data, 1, MPI.DOUBLE.Create_contiguous(2)], 0),
        "request": lambda: MPI.REQUEST_NULL.Cancel(),
        "dims": lambda: comm.Create_cart([comm.size + 1]),
        "operator": lambda: comm.Allreduce(data, np.zeros(4), MPI.OP_NULL),
        "bits": lambda: comm.Allreduce(data, np.zeros(4), MPI.BAND),
        "lengths": lambda: comm.Allreduce(data, np.zeros(5)),
        "divided": lambda: comm.Alltoall(np.zeros(comm.size * 2 + 1), np.zeros(9)),
        "scattered": lambda: comm.scatter([1] * (comm.size + 1), comm.rank),
    }
    for name in draw.sample(sorted(calls), 6):
        program.say(name, failing(calls[name]))
