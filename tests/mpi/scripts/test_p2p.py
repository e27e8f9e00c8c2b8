"""Scripts' messages between two processors: MPI's rules of matching, datatypes, steps."""

import io
from dataclasses import replace
from textwrap import dedent

import numpy as np
import pytest
from mpi.machine.ranks import everyone, machine_of
from mpi.scripts.playing import PRELUDE, played

from mpinet.compiled import rule
from mpinet.errors import Deadlock, ProgramError, RoutingError
from mpinet.mpi.messages.requests import HAPPENED
from mpinet.mpi.script import ScriptOptions, run_script
from mpinet.mpi.world import transit
from mpinet.networks.routing import STUCK

# ---- where messages end


@rule
def start_swapped(source, target, header, params):
    """Messages to 12 set out for 14, and those to 14 for 12; else for their target."""
    header[0] = 26 - target if target in (12, 14) else target


@rule
def start_beside(source, target, header, params):
    """A message sets out for the node behind its target."""
    header[0] = (target + 1) % 32


@rule
def decide_nothing(node, header, params):
    """There is no way on from any node."""
    return STUCK


WAYS = {
    "exchanged": ({"start": start_swapped}, "processors that they were not sent to"),
    "one further": ({"start": start_beside}, "processors that they were not sent to"),
    "no way on": ({"decide": decide_nothing}, "could not deliver a message"),
}


@pytest.mark.parametrize("packet", [None, 8])
@pytest.mark.parametrize("way", WAYS)
def test_no_receive_gets_a_message_that_a_routing_has_brought_elsewhere(
    tmp_path, monkeypatch, way, packet
):
    """Node 12 and node 14 are on one rank of three, so that keys and bodies meet there."""
    wrong, told = WAYS[way]
    file = tmp_path / "script.py"
    text = """
    if rank in (8, 9):
        comm.send("x" * rank, 12 if rank == 8 else 14)
    if rank in (12, 14):
        say(len(comm.recv()))
    """
    file.write_text(PRELUDE + dedent(text))
    monkeypatch.setattr(
        transit, "_routing", lambda topology, _: replace(topology.routing(), **wrong)
    )
    with pytest.raises(RoutingError, match=told) as error:
        run_script(machine_of("ring:32"), file, ScriptOptions(out=io.StringIO(), packet=packet))
    assert len(set(everyone(str(error.value)))) == 1
    monkeypatch.undo()
    said, _ = played(tmp_path, "ring:32", text, packet=packet)
    assert (said[12], said[14]) == ([8], [9])


# ---- which message a receive gets


def matched(events):
    """MPI's rule, played by hand: posted receives and arriving messages, in the order of time."""
    waiting, unexpected, got = [], [], {}
    for kind, number, tag in events:
        if kind == "message":
            fitting = [one for one in waiting if one[1] in (tag, -1)]
            if fitting:
                waiting.remove(fitting[0])
                got[fitting[0][0]] = number
            else:
                unexpected.append((number, tag))
        else:
            fitting = [one for one in unexpected if tag in (one[1], -1)]
            if fitting:
                unexpected.remove(fitting[0])
                got[number] = fitting[0][0]
            else:
                waiting.append((number, tag))
    return [got[number] for number in sorted(got)]


@pytest.mark.parametrize("seed", range(6))
def test_the_earliest_posted_receive_gets_the_earliest_message_that_fits(tmp_path, seed):
    rng = np.random.default_rng(seed)
    messages = rng.integers(3, size=40).tolist()
    posted = [tag if rng.integers(3) else -1 for tag in rng.permutation(messages).tolist()]
    turns = sorted(rng.integers(40, size=4).tolist())
    bounds = list(zip([0, *turns], [*turns, 40], strict=True))
    events = []
    for begin, end in bounds:
        events += [("receive", number, posted[number]) for number in range(begin, end)]
        events += [("message", number, messages[number]) for number in range(begin, end)]
    expected = matched(events)
    said, _ = played(
        tmp_path,
        "ring:7",
        f"""
        apart = comm.Dup()
        requests, messages, posted = [], {messages}, {posted}
        for begin, end in {bounds}:
            if rank == 2:
                for tag in posted[begin:end]:
                    source = MPI.ANY_SOURCE if tag == 1 else 5
                    requests.append(comm.irecv(source=source, tag=tag))
                apart.send("go on", 5)
                apart.recv(source=5)
            elif rank == 5:
                apart.recv(source=2)
                for number in range(begin, end):
                    comm.send(number, 2, messages[number])
                apart.send("all sent", 2)
        if rank == 2:
            done = [request.test() for request in requests]
            say([number for complete, number in done if complete])
            for request, (complete, _) in zip(requests, done):
                if not complete:
                    request.cancel()
                    status = MPI.Status()
                    request.wait(status)
                    assert status.Is_cancelled()
        """,
    )
    assert said[2] == [expected]


def test_an_unexpected_message_goes_to_the_first_receive_that_fits_it(tmp_path):
    said, _ = played(
        tmp_path,
        "hypercube:3",
        """
        if rank == 7:
            for number, tag in enumerate((4, 4, 6, 4)):
                comm.send(number, 0, tag)
        if rank == 0:
            say(comm.recv(source=7, tag=6))
            say(comm.recv(source=7))
            say(comm.recv(tag=4))
            say(comm.recv())
        """,
    )
    assert said[0] == [2, 0, 1, 3]


def test_a_receive_from_any_rank_takes_the_earliest_arrival(tmp_path):
    said, outcome = played(
        tmp_path,
        "mesh:8",
        """
        status = MPI.Status()
        if rank:
            comm.send("x" * rank, 0, tag=rank)
        else:
            for _ in range(size - 1):
                text = comm.recv(status=status)
                assert len(text) == status.source == status.tag
                say(status.source)
        """,
    )
    assert said[0] == [1, 2, 3, 4, 5, 6, 7]
    assert outcome.steps == 7


def test_probes_leave_a_message_and_matched_probes_take_it(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:5",
        """
        if rank == 1:
            comm.send("first", 3, 8)
            comm.send("second", 3, 8)
            comm.Send(np.arange(5.0), 3, 9)
        if rank == 3:
            status = MPI.Status()
            for _ in range(3):
                comm.probe(MPI.ANY_SOURCE, 8, status)
                say((status.source, status.tag))
            taken = comm.mprobe(1, 8)
            say(comm.recv(source=1, tag=8))
            say(taken.recv())
            say(bool(taken))
            comm.Probe(1, 9, status)
            say((status.Get_count(MPI.DOUBLE), comm.iprobe(1, 9), comm.iprobe(1, 8)))
            message = comm.Improbe(tag=9)
            say(comm.iprobe(1, 9))
            array = np.zeros(5)
            message.Irecv(array).Wait(status)
            say((array.tolist(), status.source, status.tag, status.count))
            say(comm.improbe())
        """,
    )
    heard = [(1, 8)] * 3 + ["second", "first", False, (5, True, False), False]
    assert said[3] == [*heard, ([0.0, 1.0, 2.0, 3.0, 4.0], 1, 9, 40), None]


@pytest.mark.parametrize("ports", ["one", "all"])
@pytest.mark.parametrize("network", ["torus:3x3", "hypercube:3"])
def test_messages_of_a_pair_keep_their_order_however_large_they_are(tmp_path, network, ports):
    sizes = np.random.default_rng(2).integers(1, 400, 12).tolist()
    said, _ = played(
        tmp_path,
        network,
        f"""
        for number, length in enumerate({sizes}):
            for target in range(size):
                comm.send((number, "x" * length), target, tag=number % 3)
        for source in range(size):
            say([comm.recv(source=source)[0] for _ in range({len(sizes)})])
        """,
        ports=ports,
        packet=50,
    )
    assert all(heard == [list(range(len(sizes)))] * len(said) for heard in said.values())


# ---- how many steps that takes


@pytest.mark.parametrize("links", [0, 1, 4, 5])
def test_a_message_over_so_many_links_takes_so_many_steps(tmp_path, links):
    send = f"comm.send(b'', {links}) if rank == 0 else rank == {links} and comm.recv()"
    _, outcome = played(tmp_path, "ring:11", send if links else "comm.send(1, rank); comm.recv()")
    assert outcome.steps == outcome.hops == links


def test_a_synchronous_send_hears_of_its_receive_over_as_many_links_again(tmp_path):
    _, outcome = played(
        tmp_path, "ring:11", "comm.ssend(1, 4) if rank == 0 else rank == 4 and comm.recv()"
    )
    assert outcome.steps == outcome.hops == 8


@pytest.mark.parametrize(("size", "packet"), [(1, 100), (100, 100), (101, 100), (1000, 64)])
def test_packets_follow_one_another(tmp_path, size, packet):
    _, outcome = played(
        tmp_path,
        "ring:11",
        f"""
        if rank == 0:
            comm.Send(np.zeros({size}, np.uint8), 3)
        if rank == 3:
            comm.Recv(np.zeros({size}, np.uint8))
        """,
        packet=packet,
    )
    packets = -(-size // packet)
    assert (outcome.steps, outcome.hops) == (packets + 2, 3 * packets)


@pytest.mark.parametrize("links", [1, 2, 5])
def test_who_asks_in_vain_waits_a_step(tmp_path, links):
    said, outcome = played(
        tmp_path,
        "ring:11",
        f"""
        if rank == {links}:
            comm.send("here", 0)
        if rank == 0:
            times = 1
            while not comm.Iprobe():
                times += 1
            say((times, comm.irecv().test()))
        """,
    )
    assert said[0] == [(links, (True, "here"))]
    assert outcome.steps == links


# ---- requests


def test_requests_are_complete_in_the_order_of_arrival(tmp_path):
    said, outcome = played(
        tmp_path,
        "mesh:9",
        """
        sources = [5, 2, 8, 3]
        if rank in sources:
            comm.isend(rank * 10, 0).wait()
        if rank == 0:
            requests = [comm.irecv(source=source) for source in sources]
            say(MPI.Request.waitany(requests))
            say(MPI.Request.testany(requests))
            say(MPI.Request.waitsome(requests))
            say(MPI.Request.testall(requests))
            say(MPI.Request.waitall(requests))
            say((MPI.Request.Waitany(requests) == MPI.UNDEFINED, any(requests)))
        """,
    )
    # after steps 2, 3 (asking waits one), 5, 6 (in vain) and 8
    assert said[0] == [
        (1, 20),
        (3, True, 30),
        ([0], [50]),
        (False, None),
        [None, None, 80, None],
        (True, False),
    ]
    assert outcome.steps == 8


def test_statuses_tell_of_every_request(tmp_path):
    said, _ = played(
        tmp_path,
        "torus:3x3",
        """
        right, left = (rank + 1) % size, (rank - 1) % size
        arrays = [np.zeros(n + 1, "i") for n in range(4)]
        receives = [comm.Irecv(array, left, n) for n, array in enumerate(arrays)]
        sends = [comm.Isend(np.full(n + 1, rank, "i"), right, n) for n in range(4)]
        statuses = []
        MPI.Request.Waitall(receives + sends, statuses)
        say([(one.source, one.tag, one.Get_count(MPI.INT)) for one in statuses[:4]])
        say([array.tolist() for array in arrays])
        say(all(request == MPI.REQUEST_NULL for request in receives + sends))
        """,
    )
    for number, heard in said.items():
        left = (number - 1) % 9
        assert heard[0] == [(left, n, n + 1) for n in range(4)]
        assert heard[1] == [[left] * (n + 1) for n in range(4)]
        assert heard[2]


def test_persistent_requests_send_what_is_in_memory_when_they_are_started(tmp_path):
    said, outcome = played(
        tmp_path,
        "ring:5",
        """
        out, into = np.zeros(3), np.zeros(3)
        requests = [
            comm.Send_init(out, (rank + 1) % size, 3),
            comm.Recv_init(into, (rank - 1) % size, 3),
        ]
        for turn in range(4):
            out[:] = rank * 10 + turn
            MPI.Prequest.Startall(requests)
            out[:] = -1
            MPI.Request.Waitall(requests)
            say(into.tolist())
        say([bool(request) for request in requests])
        for request in requests:
            request.Free()
        say([bool(request) for request in requests])
        """,
    )
    for number, heard in said.items():
        left = (number - 1) % 5 * 10
        assert heard == [*([left + turn] * 3 for turn in range(4)), [True] * 2, [False] * 2]
    assert outcome.steps == 4


def test_a_script_completes_its_own_requests(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        """
        def query(status, *rest):
            status.source, status.tag = 5, 6
            say(rest)
        def free(*rest):
            say("free")
        request = MPI.Grequest.Start(query, free, None, (1, 2))
        say(request.test())
        request.complete("done")
        status = MPI.Status()
        say((request.wait(status), status.source, status.tag, bool(request)))
        """,
    )
    for heard in said.values():
        assert heard == [(False, None), (1, 2), "free", ("done", 5, 6, False)]


# ---- memory


TYPES = {
    "column": ("MPI.INT.Create_vector(6, 1, 7)", lambda a: a[:, 0]),
    "stripes": ("MPI.INT.Create_vector(3, 2, 14)", lambda a: a[::2, :2]),
    "diagonal": ("MPI.INT.Create_indexed_block(1, range(0, 42, 8))", np.diagonal),
    "block": ("MPI.INT.Create_subarray((6, 7), (2, 3), (1, 2))", lambda a: a[1:3, 2:5]),
    "backwards": ("MPI.INT.Create_hvector(42, 1, -4)", None),
    "nested": (
        "MPI.INT.Create_vector(6, 1, 7).Create_resized(0, 4).Create_contiguous(7)",
        np.transpose,
    ),
}


@pytest.mark.parametrize("kind", [kind for kind, (_, chosen) in TYPES.items() if chosen])
def test_derived_datatypes_choose_what_numpy_chooses(tmp_path, kind):
    built, chosen = TYPES[kind]
    array = np.arange(42, dtype="i").reshape(6, 7)
    dense = chosen(array).ravel()
    said, _ = played(
        tmp_path,
        "hypercube:2",
        f"""
        kind = {built}.Commit()
        array = np.arange(42, dtype="i").reshape(6, 7)
        if rank == 0:
            comm.Send([array, 1, kind], 3)
            comm.Send(array[0:1].repeat(6, 0).ravel()[:{dense.size}], 3)
        if rank == 3:
            flat, spread = np.zeros({dense.size}, "i"), np.full((6, 7), -1, "i")
            comm.Recv(flat, 0)
            say(flat.tolist())
            status = MPI.Status()
            comm.Recv([spread, 1, kind], 0, status=status)
            say(spread.tolist())
            say((status.Get_count(kind), status.Get_elements(kind)))
        """,
    )
    spread = np.full((6, 7), -1, "i")
    places = chosen(np.arange(42).reshape(6, 7)).ravel()
    spread.ravel()[places] = array[0:1].repeat(6, 0).ravel()[: dense.size]
    assert said[3] == [dense.tolist(), spread.tolist(), (1, dense.size)]


def test_absolute_addresses_negative_strides_and_parts_of_an_element_are_understood(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        f"""
        array, other = np.arange(42, dtype="i"), np.zeros(42, "i")
        back = {TYPES["backwards"][0]}.Commit()
        place = MPI.Get_address(array)
        whole = MPI.Datatype.Create_struct([2, 1], [place + 8, place], [MPI.INT] * 2).Commit()
        self = MPI.COMM_SELF
        self.Sendrecv([MPI.BOTTOM, 1, whole], 0, 0, other, 0, 0)
        say(other[:4].tolist())
        last = MPI.INT.Create_hindexed([1], [164]).Create_resized(0, 4).Commit()
        last = back.Create_hindexed([1], [164]).Commit()
        self.Sendrecv([array, 1, last], 0, 0, other, 0, 0)
        say(other.tolist())
        pairs = MPI.INT.Create_vector(2, 1, 2).Create_resized(0, 16).Commit()
        other[:] = -1
        self.Sendrecv(array[:3], 0, 0, [other, 2, pairs], 0, 0)
        say(other[:8].tolist())
        """,
    )
    assert said[1][0] == [2, 3, 0, 0]
    assert said[1][1] == list(range(41, -1, -1))
    assert said[1][2] == [0, -1, 1, -1, 2, -1, -1, -1]


def test_specifications_are_mpi4pys(tmp_path):
    said, _ = played(
        tmp_path,
        "hypercube:2",
        """
        from array import array
        numbers = np.arange(8, dtype="h")
        sent = [
            numbers, [numbers, MPI.SHORT], [numbers, "h"], [numbers, 3], [numbers, 3, MPI.SHORT],
            [numbers, (3, 2), "h"], [numbers, 3, 2, "h"], [numbers, (None, 5)], b"abcd",
            array("d", [1, 2]), [bytearray(b"abcd"), 2], [None, 0, "i"], numbers[2:4],
            np.asfortranarray(numbers.reshape(2, 4)), memoryview(b"abcd"),
        ]
        if rank == 1:
            for one in sent:
                comm.Send(one, 2)
        if rank == 2:
            status = MPI.Status()
            for one in sent:
                into = bytearray(32)
                comm.Recv(into, 1, status=status)
                say(bytes(into[:status.count]))
        """,
    )
    numbers = np.arange(8, dtype="h")
    parts = [slice(8)] * 3 + [slice(3)] * 2 + [slice(2, 5)] * 2 + [slice(5, 8)]
    expected = [numbers[part].tobytes() for part in parts]
    expected += [b"abcd", np.array([1.0, 2.0]).tobytes(), b"ab", b"", numbers[2:4].tobytes()]
    expected += [numbers.reshape(2, 4).tobytes("F"), b"abcd"]
    assert said[2] == expected


MALFORMED = {
    "comm.Send(1, 0)": "TypeError",
    "comm.Send([b''], 0)": "ValueError",
    "comm.Send([b'ab', -1], 0)": "ValueError",
    "comm.Send([b'ab', (1, -1)], 0)": "ValueError",
    "comm.Send([b'ab', 3, 'B'], 0)": "ValueError",
    "comm.Send([b'ab', 'i'], 0)": "ValueError",
    "comm.Send([b'ab', 1, 'no such'], 0)": "KeyError",
    "comm.Recv(b'ab', 0)": "BufferError",
    "comm.Send(np.zeros((3, 3))[:, 1], 0)": "BufferError",
    "comm.send(1, size)": "ERR_RANK",
    "comm.recv(source=size)": "ERR_RANK",
    "comm.send(1, 0, -5)": "ERR_TAG",
    "comm.recv(tag=-7)": "ERR_TAG",
    "comm.send(1, '0')": "TypeError",
    "comm.recv(source=None)": "TypeError",
    "comm.bcast(1, '0')": "TypeError",
    "MPI.COMM_NULL.send(1, MPI.PROC_NULL)": "ERR_COMM",
    "comm.unheard_of = 1": "AttributeError",
    "comm.Bsend(b'ab', 0)": "ERR_BUFFER",
    "MPI.REQUEST_NULL.Cancel()": "ERR_REQUEST",
    "MPI.MESSAGE_NULL.recv()": "ERR_REQUEST",
    "MPI.Request.Waitall([1])": "TypeError",
    "comm.Send(np.zeros(4), rank); comm.Recv(np.zeros(3), rank)": "ERR_TRUNCATE",
    "comm.send('x' * 40, rank); comm.irecv(10, rank).wait()": "ERR_TRUNCATE",
    "comm.isend('x', rank); MPI.Request.waitall([comm.irecv(1, rank)])": "ERR_IN_STATUS",
}


def test_what_is_malformed_raises_what_mpi4py_raises(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:3",
        f"""
        for text in {list(MALFORMED)}:
            try:
                exec(text)
            except MPI.Exception as error:
                classes = [name for name in dir(MPI) if name.startswith("ERR_")]
                found = error.Get_error_class()
                say(next(name for name in classes if getattr(MPI, name) == found))
            except Exception as error:
                say(type(error).__name__)
        """,
    )
    assert said[1] == list(MALFORMED.values())


def test_floats_lose_what_is_behind_the_point(tmp_path):
    """As mpi4py takes them: a script may divide ranks."""
    said, _ = played(
        tmp_path,
        "ring:3",
        """
        if rank == 2:
            comm.send("half", rank / 4, 7.5)
            comm.Send(np.array([5.0]), np.float64(0.9))
        if rank == 0:
            status = MPI.Status()
            say((comm.recv(source=2.1, tag=7.9, status=status), status.source, status.tag))
            room = np.empty(1)
            comm.Irecv(room, 2.0, np.int64(0)).Wait()
            say(room.tolist())
        say(comm.bcast(rank, root=1.5))
        say(comm.Split(rank / 2, -rank / 1.0).size)
        """,
    )
    assert said == {0: [("half", 2, 7), [5.0], 1, 2], 1: [1, 2], 2: [1, 1]}


def test_nothing_comes_from_nowhere_and_at_once(tmp_path):
    said, outcome = played(
        tmp_path,
        "ring:3",
        """
        status, array = MPI.Status(), np.ones(2)
        comm.send(1, MPI.PROC_NULL)
        comm.Send(None, MPI.PROC_NULL)
        say(comm.recv(source=MPI.PROC_NULL, status=status))
        say((status.source == MPI.PROC_NULL, status.tag == MPI.ANY_TAG, status.count))
        comm.Recv(array, MPI.PROC_NULL)
        comm.Sendrecv(array, MPI.PROC_NULL, 0, array, MPI.PROC_NULL, 0)
        say((array.tolist(), comm.iprobe(MPI.PROC_NULL), comm.irecv(source=MPI.PROC_NULL).wait()))
        say(comm.mprobe(MPI.PROC_NULL) == MPI.MESSAGE_NO_PROC)
        """,
    )
    for heard in said.values():
        assert heard == [None, (True, True, 0), ([1.0, 1.0], True, None), True]
    assert outcome.steps == outcome.hops == 0


def test_memory_may_be_sent_and_replaced(tmp_path):
    said, _ = played(
        tmp_path,
        "torus:3x3",
        """
        array = np.full(3, rank)
        comm.Sendrecv_replace(array, (rank + 4) % size, 1, (rank - 4) % size, 1)
        say(array.tolist())
        comm.Isendrecv_replace(array, (rank + 1) % size, 1, (rank - 1) % size, 1).Wait()
        say(array.tolist())
        """,
    )
    for number, heard in said.items():
        assert heard == [[(number - 4) % 9] * 3, [(number - 5) % 9] * 3]


def test_buffered_sends_need_room_until_they_set_out(tmp_path):
    said, _ = played(
        tmp_path,
        "ring:4",
        """
        right = (rank + 1) % size
        memory = bytearray(2 * (100 + MPI.BSEND_OVERHEAD))
        MPI.Attach_buffer(memory)
        for turn in range(2):
            room = 0
            try:
                while True:
                    comm.Bsend(bytes(100), right)
                    room += 1
            except MPI.Exception as error:
                say((room, error.Get_error_class() == MPI.ERR_BUFFER))
            for _ in range(room):
                comm.Recv(bytearray(100))
        say(MPI.Detach_buffer() is memory)
        """,
    )
    for heard in said.values():
        assert heard == [(2, True), (2, True), True]


# ---- sends that wait for their receives


EXCHANGES = {
    "Sendrecv": "comm.Sendrecv(out, right, 0, into, left, 0)",
    "Isendrecv": "comm.Isendrecv(out, right, 0, into, left, 0).Wait()",
    "sendrecv": "into[:] = comm.sendrecv(out, right, 0, None, left, 0)",
    "Isend": "request = comm.Isend(out, right); comm.Recv(into, left); request.Wait()",
    "Send": "comm.Send(out, right); comm.Recv(into, left)",
}


@pytest.mark.parametrize("call", EXCHANGES)
def test_only_plain_sends_in_a_ring_rely_on_buffers(tmp_path, call):
    script = f"""
    left, right = (rank - 1) % size, (rank + 1) % size
    out, into = np.full(2, rank), np.zeros(2, int)
    {EXCHANGES[call]}
    say(into.tolist())
    """
    said, outcome = played(tmp_path, "ring:5", script)
    assert said == {number: [[(number - 1) % 5] * 2] for number in range(5)}
    assert outcome.steps == 1
    if call == "Send":
        with pytest.raises(Deadlock, match="5 wait for one another in a cycle"):
            played(tmp_path, "ring:5", script, eager=-1)
    else:
        said, outcome = played(tmp_path, "ring:5", script, eager=-1)
        assert said == {number: [[(number - 1) % 5] * 2] for number in range(5)}
        assert outcome.steps == 2


def test_an_error_in_a_call_ends_the_run_with_its_name(tmp_path):
    with pytest.raises(ProgramError, match=r"Processor 2, after step 0(.|\n)*ERR_RANK"):
        played(tmp_path, "ring:5", "rank == 2 and comm.send(1, 77)")


# ---- on any ranks


@pytest.mark.parametrize("mapping", ["random", "table"])
@pytest.mark.parametrize("network", ["hypercube:3", "torus:3x3", "ring:11"])
def test_what_comes_when_depends_on_no_mapping(tmp_path, network, mapping):
    script = """
    rng = np.random.default_rng(rank)
    for turn in range(6):
        for target in rng.integers(size, size=3).tolist():
            comm.isend((rank, turn), target)
        while comm.iprobe():
            say(comm.recv())
    """
    said, outcome = played(tmp_path, network, script, ports="one")
    other, again = played(tmp_path, network, script, ports="one", mapping=mapping)
    assert other == said
    assert (again.steps, again.hops) == (outcome.steps, outcome.hops)
    assert sum(map(len, said.values())) + outcome.unreceived == 18 * len(said)


def test_links_carry_one_message_a_step(tmp_path):
    machine = machine_of("mesh:2")
    script = tmp_path / "many.py"
    script.write_text(
        PRELUDE
        + dedent(
            """
            requests = [comm.isend(n, 1) for n in range(9)] if rank == 0 else []
            found = [comm.recv() for _ in range(9)] if rank == 1 else []
            assert found in ([], list(range(9)))
            """
        )
    )
    assert run_script(machine, script, ScriptOptions(out=io.StringIO())).steps == 9


def test_who_asks_thousands_of_times_before_it_sends_is_not_starved(tmp_path):
    script = """
        if rank == 0:
            request = comm.irecv(source=1)
            asked = sum(not request.test()[0] for _ in range(5000))
            comm.send("go", 1)
            say((asked, request.wait()))
        elif rank == 1:
            comm.recv(source=0)
            comm.send("gone", 0)
    """
    said, outcome = played(tmp_path, "ring:3", script)
    assert said[0] == [(5000, "gone")]
    assert outcome.steps == 2


@pytest.mark.parametrize("come", [False, True])
def test_a_receive_whose_request_is_freed_fills_its_memory(tmp_path, come):
    script = f"""
    if rank == 0:
        found = np.zeros(3)
        if {come}:
            comm.Probe(1, 5)
        comm.Irecv(found, 1, 5).Free()
        comm.Recv_init(other := np.zeros(3), 1, 7).Free()
        comm.recv(source=1, tag=6)
        say((found.tolist(), other.tolist()))
    if rank == 1:
        comm.Send(np.arange(3.0), 0, 5)
        comm.send(None, 0, 6)
    """
    said, outcome = played(tmp_path, "ring:3", script)
    assert said[0] == [([0.0, 1.0, 2.0], [0.0, 0.0, 0.0])]
    assert outcome.unreceived == 0


def test_a_message_too_long_for_a_receive_that_was_freed_ends_the_run(tmp_path):
    script = """
    if rank == 0:
        comm.Irecv(np.zeros(1), 1, 5).Free()
        comm.recv(source=1, tag=6)
    if rank == 1:
        comm.Send(np.zeros(3), 0, 5)
        comm.send(None, 0, 6)
    """
    with pytest.raises(ProgramError, match="TRUNCATE"):
        played(tmp_path, "ring:3", script)


def test_a_synchronous_exchange_without_a_source_ends_with_its_send(tmp_path):
    script = """
    if rank == 0:
        found = np.full(1, 7)
        comm.Sendrecv(np.arange(3), 1, 0, found, MPI.PROC_NULL)
        say(found.tolist())
    if rank == 1:
        comm.Recv(found := np.zeros(3, int), 0)
        say(found.tolist())
    """
    said, _ = played(tmp_path, "ring:3", script, eager=-1)
    assert said == {0: [[7]], 1: [[0, 1, 2]], 2: []}
    assert not hasattr(HAPPENED, "owner")


def test_tags_may_be_an_enumeration_of_the_scripts(tmp_path):
    script = """
        import enum

        class Tag(enum.IntEnum):
            HELLO = 3

        for send in (comm.send, comm.ssend):
            request = comm.irecv(source=(rank - 1) % size, tag=Tag.HELLO)
            if rank % 2:
                send(rank, (rank + 1) % size, Tag.HELLO)
                say(request.wait())
            else:
                say(request.wait())
                send(rank, (rank + 1) % size, tag=Tag.HELLO)
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    assert said == {rank: [(rank - 1) % 8] * 2 for rank in range(8)}
