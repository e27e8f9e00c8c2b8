"""Scripts' collectives: what they give, in how many steps, on all networks and by all patterns."""

import re
from functools import reduce
from textwrap import dedent

import numpy as np
import pytest
from mpi.machine.ranks import everyone, machine_of, transport
from mpi.scripts import playing
from mpi.scripts.playing import PRELUDE

from mpinet.cli.commands import parse
from mpinet.errors import Deadlock, ProgramError
from mpinet.jobs import module_of
from mpinet.machine.transport import Local
from mpinet.mpi.world import trees
from mpinet.mpi.world.trees import TargetPattern
from mpinet.programs.broadcast import broadcast

ROWS = """
rows = np.random.default_rng(size).integers(-50, 50, (size, size))
mine = rows[rank]
"""

NETWORKS = ["complete:5", "hypercube:3", "ring:7", "fattree:2,2", "clens:3,3"]
MOST = trees.MOST_EXCHANGED

CASES = [(network, None) for network in NETWORKS] + [("torus:3x3", one) for one in TargetPattern]


def played(folder, network, script, ports="one", **options):
    """What the processors of a script say, and the run's outcome; they have `ROWS` if they ask."""
    whole = (ROWS if "mine" in script else "") + dedent(script)
    return playing.played(folder, network, whole, ports, **options)


def rows_of(size):
    """The numbers that the processors of a script have."""
    return np.random.default_rng(size).integers(-50, 50, (size, size))


def steps_of(folder, network, script, ports="one", **options):
    """The steps of a script."""
    return played(folder, network, script, ports, **options)[1].steps


def booked(outcome, kind):
    """Messages, hops and bytes of all calls of a kind, which rank 0 knows."""
    own = [(one.messages, one.hops, one.sent) for one in outcome.accounts if one.kind == kind]
    return everyone(np.sum(own, axis=0).tolist())[0]


# ---- what they give


@pytest.mark.parametrize(("network", "pattern"), CASES)
def test_objects_come_where_they_belong_from_any_root(tmp_path, network, pattern):
    script = """
    for root in (0, size - 2):
        say(comm.bcast({"row": mine.tolist()} if rank == root else None, root))
        say(comm.gather(mine.tolist(), root))
        say(comm.scatter(rows.T.tolist() if rank == root else None, root))
    comm.barrier()
    say(comm.allgather(mine.tolist()))
    say(comm.alltoall(mine.tolist()))
    """
    said, _ = played(tmp_path, network, script, "all", pattern=pattern)
    rows = rows_of(len(said))
    for rank, values in said.items():
        expected = []
        for root in (0, len(rows) - 2):
            expected.append({"row": rows[root].tolist()})
            expected.append(rows.tolist() if rank == root else None)
            expected.append(rows[:, rank].tolist())
        assert values == [*expected, rows.tolist(), rows[:, rank].tolist()]


@pytest.mark.parametrize(("network", "pattern"), CASES)
def test_objects_are_combined_as_numpy_combines_them(tmp_path, network, pattern):
    script = """
    one = int(mine[0])
    for root in (0, size - 2):
        say(comm.reduce(one, root=root))
        say(comm.reduce((one, rank), MPI.MAXLOC, root))
        say(comm.reduce(mine, MPI.SUM, root) if rank != root else
            comm.reduce(mine, MPI.SUM, root).tolist())
    say(comm.allreduce(one, MPI.MIN))
    say(comm.allreduce(one, lambda low, high: low + high))
    say(comm.scan(one))
    say(comm.exscan(one, MPI.MAX))
    """
    said, _ = played(tmp_path, network, script, "all", pattern=pattern)
    rows = rows_of(len(said))
    ones = rows[:, 0]
    for rank, values in said.items():
        expected = []
        for root in (0, len(rows) - 2):
            best = (int(ones.max()), int(ones.argmax()))
            results = [int(ones.sum()), best, rows.sum(axis=0).tolist()]
            expected += results if rank == root else [None, None, None]
        through, before = int(ones[: rank + 1].sum()), ones[:rank]
        highest = int(before.max()) if rank else None
        assert values == [*expected, ones.min(), ones.sum(), through, highest]


@pytest.mark.parametrize(("network", "pattern"), CASES)
def test_buffers_come_where_they_belong(tmp_path, network, pattern):
    script = """
    root = size - 2
    got = mine.copy()
    comm.Bcast(got, root)
    say(got.tolist())
    whole = np.zeros((size, size), int)
    comm.Gather(mine, whole, root)
    say(whole.tolist())
    whole[:] = 0
    comm.Allgather(mine, whole)
    say(whole.tolist())
    comm.Scatter(rows if rank == root else None, got, root)
    say(got.tolist())
    comm.Alltoall(mine, got)
    say(got.tolist())
    counts = [one % 3 for one in range(size)]
    total = sum(counts)
    ragged = np.zeros(total, int)
    comm.Gatherv(mine[: counts[rank]], (ragged, counts), root)
    say(ragged.tolist())
    comm.Allgatherv(mine[: counts[rank]], (ragged, counts))
    say(ragged.tolist())
    got = np.zeros(counts[rank], int)
    comm.Scatterv((rows.ravel(), counts) if rank == root else None, got, root)
    say(got.tolist())
    got = np.zeros(size * counts[rank], int)
    comm.Alltoallv((mine.repeat(3), counts), (got, [counts[rank]] * size))
    say(got.tolist())
    got = np.zeros(size, int)
    places = (8 * np.arange(size)).tolist()
    spec = ([1] * size, places, [MPI.LONG] * size)
    comm.Alltoallw((mine, *spec), (got, *spec))
    say(got.tolist())
    """
    said, _ = played(tmp_path, network, script, "all", pattern=pattern)
    size = len(said)
    rows, root = rows_of(size), size - 2
    counts = np.arange(size) % 3
    begin = np.cumsum(counts) - counts
    ragged = np.concatenate([row[:count] for row, count in zip(rows, counts, strict=True)])
    for rank, values in said.items():
        own = slice(begin[rank], begin[rank] + counts[rank])
        at_root = rank == root
        expected = [
            rows[root],
            rows if at_root else 0 * rows,
            rows,
            rows[rank],
            rows[:, rank],
            ragged if at_root else 0 * ragged,
            ragged,
            rows.ravel()[own],
            rows.repeat(3, axis=1)[:, own].ravel(),
            rows[:, rank],
        ]
        assert values == [one.tolist() for one in expected]


@pytest.mark.parametrize(("network", "pattern"), CASES)
def test_buffers_are_combined_as_numpy_combines_them(tmp_path, network, pattern):
    script = """
    got = np.zeros(size, int)
    comm.Reduce(mine, got, MPI.SUM, 1)
    say(got.tolist())
    comm.Allreduce(mine, got, MPI.MAX)
    say(got.tolist())
    comm.Scan(mine, got)
    say(got.tolist())
    got[:] = 0
    comm.Exscan(mine, got)
    say(got.tolist())
    one = np.zeros(1, int)
    comm.Reduce_scatter_block(mine, one)
    say(one.tolist())
    counts = [2, 0] + [1] * (size - 2)
    part = np.zeros(counts[rank], int)
    comm.Reduce_scatter(mine, part, counts)
    say(part.tolist())
    comm.Reduce_scatter(mine, part)
    say(part.tolist())
    pair, best = np.zeros((2, 1), np.dtype("d,i", align=True))
    pair[0] = mine[0], rank
    comm.Allreduce([pair, MPI.DOUBLE_INT], [best, MPI.DOUBLE_INT], MPI.MINLOC)
    say(best[0].item())
    """
    said, _ = played(tmp_path, network, script, "all", pattern=pattern)
    size = len(said)
    rows = rows_of(size)
    total = rows.sum(axis=0)
    ends = np.cumsum([2, 0] + [1] * (size - 2))
    for rank, values in said.items():
        part = total[ends[rank - 1] if rank else 0 : ends[rank]]
        expected = [
            total if rank == 1 else 0 * total,
            rows.max(axis=0),
            rows[: rank + 1].sum(axis=0),
            rows[:rank].sum(axis=0),
            total[rank : rank + 1],
            part,
            part,
        ]
        best = (float(rows[:, 0].min()), int(rows[:, 0].argmin()))
        assert values == [*(one.tolist() for one in expected), best]


@pytest.mark.parametrize("network", ["hypercube:3", "torus:3x3"])
def test_a_buffer_may_be_both_operand_and_result(tmp_path, network):
    script = """
    got = mine.copy()
    comm.Allreduce(MPI.IN_PLACE, got)
    say(got.tolist())
    got = mine.copy()
    comm.Reduce(MPI.IN_PLACE if rank == 2 else got, got if rank == 2 else None, MPI.SUM, 2)
    say(got.tolist())
    got = mine.copy()
    comm.Scan(MPI.IN_PLACE, got)
    say(got.tolist())
    got = mine.copy()
    comm.Alltoall(MPI.IN_PLACE, got)
    say(got.tolist())
    got = np.zeros_like(rows)
    got[rank] = mine
    comm.Allgather(MPI.IN_PLACE, got)
    say(got.tolist())
    got = mine.copy()
    comm.Reduce_scatter_block(MPI.IN_PLACE, got)
    say(got[:1].tolist())
    """
    said, _ = played(tmp_path, network, script)
    rows = rows_of(len(said))
    total = rows.sum(axis=0)
    for rank, values in said.items():
        expected = [total, total if rank == 2 else rows[rank], rows[: rank + 1].sum(axis=0)]
        expected += [rows[:, rank], rows, total[rank : rank + 1]]
        assert values == [one.tolist() for one in expected]


# ---- operators


@pytest.mark.parametrize(("network", "pattern"), CASES)
def test_operators_that_do_not_commute_are_applied_in_the_order_of_ranks(
    tmp_path, network, pattern
):
    script = """
    def product(low, high, datatype):
        left = np.frombuffer(low, int).reshape(2, 2)
        right = np.frombuffer(high, int).reshape(2, 2)
        right[:] = left @ right % 1009

    matrices = MPI.LONG.Create_contiguous(4).Commit()
    operator = MPI.Op.Create(product)
    own, got = mine[:4].copy(), np.zeros(4, int)
    for root in (0, size - 2):
        got[:] = 0
        comm.Reduce([own, 1, matrices], [got, 1, matrices], operator, root)
        say(got.tolist())
        say(comm.reduce([rank], root=root))
        say(comm.reduce(str(rank), lambda low, high: low + high, root))
    comm.Allreduce([own, 1, matrices], [got, 1, matrices], operator)
    say(got.tolist())
    comm.Scan([own, 1, matrices], [got, 1, matrices], operator)
    say(got.tolist())
    say(comm.scan([rank]))
    operator.Free()
    """
    said, _ = played(tmp_path, network, script, "all", pattern=pattern)
    size = len(said)
    matrices = rows_of(size)[:, :4].reshape(-1, 2, 2)

    def product(last):
        found = reduce(lambda low, high: low @ high % 1009, matrices[: last + 1])
        return found.ravel().tolist()

    for rank, values in said.items():
        expected = []
        for root in (0, size - 2):
            text = "".join(map(str, range(size)))
            results = [product(size - 1), [*range(size)], text]
            expected += results if rank == root else [[0] * 4, None, None]
        assert values == [*expected, product(size - 1), product(rank), [*range(rank + 1)]]


def test_operators_are_the_scripts_own_and_can_be_pickled(tmp_path):
    script = """
    import pickle
    say(isinstance(MPI.SUM, MPI.Op) and MPI.SUM(2, 3) == 5)
    say(pickle.loads(pickle.dumps(MPI.MAXLOC)) is MPI.MAXLOC)
    say(MPI.Op(MPI.PROD) == MPI.PROD != MPI.SUM)

    def join(low, high, datatype):
        return low + high

    own = MPI.Op.Create(join, commute=False)
    other = pickle.loads(pickle.dumps(own))
    say(other("a", "b") == "ab" and other != own and not other.is_commutative)
    say(not own.is_predefined and MPI.BAND.is_predefined and not MPI.OP_NULL)
    own.Free()
    say(not own and own == MPI.OP_NULL and bool(other))
    """
    said, _ = played(tmp_path, "complete:2", script)
    assert said == {0: [True] * 6, 1: [True] * 6}


@pytest.mark.parametrize("mapping", ["blocks", "random"])
@pytest.mark.parametrize("network", ["torus:3x3", "hypercube:3", "clens:3,3"])
def test_sums_of_floats_depend_on_neither_ranks_nor_mapping(tmp_path, network, mapping):
    script = """
    term = 0.1 * float(mine[0]) ** 3
    got = np.zeros(1)
    comm.Allreduce(np.array([term]), got)
    say((comm.reduce(term, root=2), comm.allreduce(term), got.item(), comm.scan(term)))
    """
    said, outcome = played(tmp_path, network, script, mapping=mapping)
    alone, once = played(tmp_path, network, script, where=Local())
    assert (said, outcome.steps, outcome.hops) == (alone, once.steps, once.hops)


def test_partners_on_a_hypercube_add_floats_in_pairs(tmp_path):
    said, _ = played(tmp_path, "hypercube:4", "say(comm.allreduce(0.1 * float(mine[0]) ** 3))")
    terms = [0.1 * float(one) ** 3 for one in rows_of(16)[:, 0]]
    while len(terms) > 1:
        terms = [low + high for low, high in zip(terms[::2], terms[1::2], strict=True)]
    assert all(values == terms for values in said.values())


# ---- steps

OWN_BROADCASTS = [
    "hypercube:5",
    "torus:5x4",
    "torus:4x4x4",
    "hdn:2x3x2,super=0.1/1.2",
    "sth:3,3",
    "gmn:4,32",
    "gbsn:1,m=4-4-4-2,a=1",
    "gbsn:2,m=3-3,a=1",
]


@pytest.mark.costly
@pytest.mark.parametrize("root", [0, 5])
@pytest.mark.parametrize("network", OWN_BROADCASTS)
def test_bcast_takes_the_steps_of_the_networks_own_broadcast(tmp_path, network, root):
    steps = broadcast(machine_of(network, "one"), root).steps
    for script in (
        f"assert comm.bcast(rank, {root}) == {root}",
        f"comm.Bcast(np.zeros(3), {root})",
        f"assert comm.scatter(range(size), {root}) == rank",
    ):
        assert steps_of(tmp_path, network, script) == steps


@pytest.mark.parametrize("network", ["hypercube:4", "torus:4x4", "hdn:2x3,super=0.1", "sth:3,3"])
def test_bcast_with_all_ports_is_no_slower_than_the_networks_own(tmp_path, network):
    steps = broadcast(machine_of(network, "all"), 3).steps
    assert steps_of(tmp_path, network, "comm.bcast(rank, 3)", "all") <= steps


@pytest.mark.parametrize("dimensions", [1, 3, 5])
def test_partners_on_a_hypercube_need_a_step_a_dimension(tmp_path, dimensions):
    network = f"hypercube:{dimensions}"
    for script in ("comm.barrier()", "comm.allreduce(rank)", "comm.allgather(rank)"):
        said, outcome = played(tmp_path, network, script)
        assert outcome.steps == dimensions
        assert outcome.hops == dimensions * len(said)


def test_only_where_partners_are_neighbors_do_they_exchange(tmp_path):
    networks = ("hypercube:4", "complete:16", "torus:2x2x2x2", "torus:4x4", "ring:16")
    hops = [played(tmp_path, one, "comm.barrier()", "all")[1].hops for one in networks]
    assert hops == [4 * 16, 4 * 16, 4 * 16, 2 * 15, 2 * 15]


def test_partners_exchange_only_while_that_is_no_more_messages_than_a_limit(tmp_path, monkeypatch):
    monkeypatch.setattr(trees, "MOST_EXCHANGED", 16 * 5)
    hops = [
        played(tmp_path, one, "comm.barrier()")[1].hops for one in ("hypercube:4", "hypercube:5")
    ]
    assert hops == [4 * 16, 2 * 31]
    exchanged = played(tmp_path, "hypercube:5", "comm.barrier()", pattern=TargetPattern.EXCHANGE)
    assert exchanged[1].hops == 5 * 32
    assert 2**16 * 17 <= MOST < 2**17 * 18


@pytest.mark.parametrize("size", [2, 5, 9])
def test_a_one_port_root_hears_from_one_member_a_step(tmp_path, size):
    network, direct = f"complete:{size}", TargetPattern.DIRECT
    assert steps_of(tmp_path, network, "comm.gather(rank)", pattern=direct) == size - 1
    assert steps_of(tmp_path, network, "comm.bcast(rank, 1)", pattern=direct) == size - 1
    assert steps_of(tmp_path, network, "comm.alltoall(range(size))") == size - 1
    assert steps_of(tmp_path, network, "comm.gather(rank)", "all", pattern=direct) == 1


def test_a_direct_gather_at_a_one_port_root_takes_a_step_for_every_other_member(tmp_path):
    for network in ("torus:3x3", "ring:9", "hdn:2x3,super=0.1"):
        said, outcome = played(tmp_path, network, "comm.gather(rank)", pattern=TargetPattern.DIRECT)
        assert outcome.steps >= len(said) - 1


@pytest.mark.parametrize(("size", "steps"), [(2, 1), (5, 3), (8, 3), (9, 4), (16, 4)])
def test_the_binomial_tree_doubles_the_informed_in_every_step(tmp_path, size, steps):
    for script in ("comm.bcast(rank, 1)", "comm.reduce(rank)", "comm.scatter(range(size), 1)"):
        found = steps_of(tmp_path, f"complete:{size}", script, pattern=TargetPattern.BINOMIAL)
        assert found == steps


def test_a_reduction_along_a_tree_sends_one_result_over_every_link_of_it(tmp_path):
    _, outcome = played(tmp_path, "torus:4x4", "comm.Reduce(mine[:3], mine[3:6].copy())")
    assert booked(outcome, "Reduce") == [15, 15, 15 * 3 * 8]
    script = "comm.Gather(mine[:1], rows[0])"
    _, outcome = played(tmp_path, "ring:5", script, pattern=TargetPattern.DIRECT)
    assert booked(outcome, "Gather") == [4, 1 + 2 + 2 + 1, 4 * 8]


# ---- several at a time, and on parts of the world


@pytest.mark.parametrize("network", ["hypercube:3", "torus:3x3"])
def test_broadcasts_that_overlap_do_not_mix(tmp_path, network):
    script = """
    boxes = [rows[root].copy() if rank == root % size else np.zeros(size, int)
             for root in [turn % size for turn in range(16)]]
    requests = [comm.Ibcast(box, turn % size) for turn, box in enumerate(boxes)]
    total = np.zeros(size, int)
    requests.append(comm.Iallreduce(mine, total))
    for request in reversed(requests):
        request.Wait()
    say([box.tolist() for box in boxes])
    say(total.tolist())
    """
    said, _ = played(tmp_path, network, script)
    size = len(said)
    rows = rows_of(size)
    expected = [rows[turn % size].tolist() for turn in range(16)]
    assert all(values == [expected, rows.sum(axis=0).tolist()] for values in said.values())


def test_what_is_begun_goes_on_while_the_script_does_other_things(tmp_path):
    script = """
    whole = np.zeros((size, size), int)
    request = comm.Iallgather(mine, whole)
    comm.send(rank, (rank + 1) % size, 3)
    other = comm.allreduce(rank)
    say((other, comm.recv(source=(rank - 1) % size, tag=3)))
    request.Wait()
    say(whole.tolist())
    """
    said, _ = played(tmp_path, "ring:6", script)
    whole = rows_of(6).tolist()
    assert said == {rank: [(15, (rank - 1) % 6), whole] for rank in range(6)}


def test_a_prepared_collective_can_be_started_again_and_again(tmp_path):
    script = """
    own, got = np.zeros(1, int), np.zeros(1, int)
    request = comm.Allreduce_init(own, got)
    for turn in range(3):
        own[0] = rank * turn
        request.Start()
        request.Wait()
        say(got.item())
    request.Free()
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    assert all(values == [0, 28, 56] for values in said.values())


@pytest.mark.parametrize("pattern", [None, TargetPattern.EXCHANGE, TargetPattern.DIRECT])
def test_parts_of_the_world_have_collectives_of_their_own(tmp_path, pattern):
    script = """
    part = comm.Split(rank % 3, -rank)
    say((part.allgather(rank), part.reduce(rank, root=1), part.bcast(rank, 2)))
    say(part.scan([rank]))
    say(MPI.COMM_SELF.allreduce(rank))
    say(comm.Dup().allgather(rank))
    """
    said, _ = played(tmp_path, "torus:3x3", script, pattern=pattern)
    for rank, (found, through, own, whole) in said.items():
        members = [rank % 3 + 6, rank % 3 + 3, rank % 3]
        place = members.index(rank)
        assert found == (members, sum(members) if place == 1 else None, members[2])
        assert (through, own, whole) == (members[: place + 1], rank, [*range(9)])


def test_a_copy_of_the_world_uses_the_machines_own_broadcast(tmp_path):
    said, outcome = played(tmp_path, "sth:3,3", "say(comm.Dup().bcast(rank, 5))")
    assert booked(outcome, "bcast")[:2] == [len(said) - 1] * 2
    assert all(values == [5] for values in said.values())


# ---- what goes wrong


@pytest.mark.parametrize(
    ("one", "other", "said"),
    [
        ("comm.gather(rank)", "comm.bcast(rank, 1)", ["gather with root 0", "bcast with root 1"]),
        ("comm.bcast(1, 0)", "comm.bcast(1, size - 1)", ["bcast with root 0", "bcast with root 4"]),
        (
            "comm.Reduce(mine, into, root=1)",
            "comm.Reduce(mine, into)",
            ["with root 1", "with root 0"],
        ),
        (
            "comm.allreduce(1)",
            "comm.allreduce(1, MPI.MAX)",
            ["allreduce by MPI.SUM", "allreduce by MPI.MAX"],
        ),
        (
            "comm.Allreduce(mine, into, MPI.PROD)",
            "comm.Allreduce(mine, into)",
            ["Allreduce by MPI.PROD of 40 bytes", "Allreduce by MPI.SUM of 40 bytes"],
        ),
        (
            "comm.Allreduce(mine, into)",
            "comm.Allreduce(mine[:2], into[:2])",
            ["Allreduce by MPI.SUM of 40 bytes", "Allreduce by MPI.SUM of 16 bytes"],
        ),
        (
            "comm.Ibcast(mine).Wait()",
            "comm.Bcast(mine)",
            ["Ibcast with root 0", "Bcast with root 0"],
        ),
        ("comm.barrier()", "comm.allgather(1)", ["barrier", "allgather"]),
    ],
)
def test_collectives_that_do_not_match_are_an_error_that_names_both_lines(
    tmp_path, one, other, said
):
    script = f"""
    comm.barrier()
    into = mine.copy()
    if rank == 3:
        {one}
    else:
        {other}
    comm.recv()
    """
    with pytest.raises(Deadlock) as caught:
        played(tmp_path, "complete:5", script)
    heading, *calls = str(caught.value).partition("\nWaiting processors by line:")[0].splitlines()
    assert heading.endswith(" They call collectives that do not match:")
    lines = (PRELUDE + ROWS * ("mine" in script) + dedent(script)).splitlines()
    places = [lines.index(f"    {call}") + 1 for call in (one, other)]
    told = [
        f"processor {who}, .*:{place}: .*{words}"
        for who, place, words in zip((3, 0), places, said, strict=True)
    ]
    assert len(calls) == 2
    assert re.search(told[1], calls[0]) and re.search(told[0], calls[1])


ROOTS = [f"bcast with root {root}" for root in range(5)]

UNNOTICED = {
    "comm.bcast(rank, root=rank % 2)": ROOTS[:2],
    "comm.bcast(rank, root=rank)": ROOTS,
    "if rank < 2: comm.bcast(0)": ["bcast with root 0", "3 of 5 members have not called it"],
    "if rank == 1: comm.Ibarrier()": ["Ibarrier", "4 of 5 members have not called it"],
    "comm.Ibcast(np.zeros(3), root=rank // 3)": [
        "Ibcast with root 0",
        "Ibcast with root 1",
    ],
    "part = comm.Split(rank // 3); part.bcast(0, root=part.rank); part.Free()": ROOTS[:3],
    "comm.Barrier(); comm.bcast(0, root=rank % 2); comm.barrier()": ROOTS[:2],
}


@pytest.mark.parametrize("call", UNNOTICED)
def test_collectives_that_differ_where_no_processor_waits_are_an_error_at_the_end(tmp_path, call):
    script = f"""
    for _ in range(3):
        comm.allreduce(1)
    say("end")
    {call}
    """
    with pytest.raises(ProgramError, match="do not match") as caught:
        played(tmp_path, "complete:5", script)
    lines = (PRELUDE + dedent(script)).splitlines()
    _, *told = str(caught.value).splitlines()
    assert [line.partition(f":{lines.index(call) + 1}: ")[2] for line in told if "," in line] == [
        words for words in UNNOTICED[call] if "members" not in words
    ]
    assert [line for line in told if "members" in line] == [
        f"  {words}" for words in UNNOTICED[call] if "members" in words
    ]


@pytest.mark.parametrize("call", ["Bcast(room, 2)", "Ibcast(room, 2).Wait()"])
def test_a_broadcast_of_fewer_bytes_than_a_member_has_is_an_error_at_the_end(tmp_path, call):
    script = f"""
    room = np.zeros(4 if rank == 2 else 8)
    comm.{call}
    comm.barrier()
    """
    with pytest.raises(ProgramError, match="do not match") as caught:
        played(tmp_path, "complete:5", script)
    line = (PRELUDE + dedent(script)).splitlines().index(f"comm.{call}") + 1
    kind = call.partition("(")[0]
    words = f"{kind} with root 2", f"{kind} with room for 64 bytes, but 32 bytes received"
    told = str(caught.value).splitlines()[1:]
    assert {one.partition(f"script.py:{line}: ")[2] for one in told} == set(words)


def test_collectives_between_which_others_differ_are_no_mismatch(tmp_path):
    """Whoever does not come to a collective has not called another one."""
    script = """
    half = comm.Split(rank % 2, rank)
    half.bcast(1) if rank % 2 else half.allreduce(1)
    comm.allreduce(rank, lambda one, other: one + other)
    comm.reduce(rank, op=MPI.Op.Create(lambda one, other, kind: one + other), root=size - 1)
    if rank:
        comm.barrier()
    """
    with pytest.raises(Deadlock, match="waits in barrier") as caught:
        played(tmp_path, "ring:5", script)
    assert "do not match" not in str(caught.value)


@pytest.mark.parametrize(
    ("call", "error"),
    [
        ("comm.bcast(rank, size)", "MPI.Exception"),
        ("comm.Reduce(mine, mine.copy(), root=-1)", "MPI.Exception"),
        ("comm.scatter([1], rank)", "ValueError: expecting 4 items, got 1"),
        ("comm.Allreduce(mine, mine[:1].copy())", "ValueError: mismatch"),
        ("comm.Allreduce(mine, mine.copy(), max)", "TypeError"),
        ("comm.Bcast(mine if rank == 0 else mine[:1].copy())", "Exception"),
    ],
)
def test_a_call_with_wrong_arguments_fails_as_in_mpi4py(tmp_path, call, error):
    with pytest.raises(ProgramError) as caught:
        played(tmp_path, "hypercube:2", f"mine = np.arange(size)\n{call}")
    assert error.split(".")[-1] in str(caught.value)


def test_prepared_collectives_match_as_prepared_in_whatever_order_they_start(tmp_path):
    script = """
    ring = comm.Create_cart([size], [True])
    sums, around, first = np.zeros(1, int), np.zeros(2, int), np.zeros(1, int)
    own, mark = np.array([rank]), np.array([rank + 100])
    prepared = [
        comm.Allreduce_init(own, sums),
        comm.Bcast_init(first, 0),
        ring.Neighbor_allgather_init(own, around),
        ring.Neighbor_allgather_init(mark, marks := np.zeros(2, int)),
    ]
    for time in range(3):
        own += 10 * time
        first[:] = 7 + time if rank == 0 else -1
        for request in prepared[:: 1 if (rank + time) % 2 else -1]:
            request.Start()
        MPI.Request.Waitall(prepared)
        say(np.concatenate([sums, first, around, marks]).tolist())
    """
    said, _ = played(tmp_path, "ring:5", script)
    for rank, found in said.items():
        beside = np.array([(rank - 1) % 5, (rank + 1) % 5])
        for time, added in enumerate((0, 10, 30)):
            sums = sum(range(5)) + 5 * added
            assert found[time] == [sums, 7 + time, *(beside + added), *(beside + 100)]


def test_a_datatype_may_be_freed_when_what_uses_it_has_begun_or_is_prepared(tmp_path):
    script = """
    ring = comm.Create_cart([size], [True])
    every_other = MPI.INT64_T.Create_vector(3, 1, 2)
    def add(low, high, one):
        high[:] = (np.frombuffer(low, int) + np.frombuffer(high, int)).tobytes()
    added = MPI.Op.Create(add)
    only = lambda place, number: [int(place % number == other) for other in range(number)]
    part = lambda spec, one, way: [spec[0], only(rank + way, size), [0] * size, [one] * size]
    near = lambda spec, one, place: [spec[0], only(place, 2), [0, 0], (one, one)]
    twice = lambda spec: [spec[0], 1, MPI.INT64_T.Create_contiguous(3).Commit()]
    calls = {
        "bcast": lambda out, to, one: (comm, (to if rank else out, 0)),
        "alltoallw": lambda out, to, one: (comm, (part(out, one, 1), part(to, one, -1))),
        "allreduce": lambda out, to, one: (comm, (out, to, added)),
        "neighbor_alltoallw": lambda out, to, one: (ring, (near(out, one, 0), near(to, one, 1))),
        "neighbor_allgather": lambda out, to, one: (ring, (out, twice(to))),
    }
    for name, arguments in calls.items():
        for way in ("begun", "prepared"):
            mine, found = np.arange(6) + 10 * rank, np.full(6, -1)
            one = every_other.Dup().Commit()
            on, given = arguments([mine, 1, one], [found, 1, one], one)
            if way == "begun":
                request = getattr(on, "I" + name)(*given)
            else:
                request = getattr(on, name.capitalize() + "_init")(*given)
            one.Free()
            if way == "prepared":
                request.Start()
            request.Wait()
            say((name, found.tolist()))
    here = MPI.Datatype.Create_struct([1], [MPI.Get_address(mine)], [MPI.INT64_T]).Commit()
    there = MPI.Datatype.Create_struct([1], [MPI.Get_address(found)], [MPI.INT64_T]).Commit()
    kinds = [(MPI.BOTTOM, part((0,), one, way)[1:3], [one] * size)
             for one, way in ((here, 1), (there, -1))]
    request = comm.Ialltoallw(*kinds)
    here.Free(), there.Free()
    request.Wait()
    say(("bottom", int(found[0])))
    one = every_other.Dup().Commit()
    sending = comm.Send_init([np.arange(6) + 10 * rank, 1, one], (rank + 1) % size)
    one.Free()
    sending.Start()
    comm.Recv(found := np.zeros(3, int))
    say(("send", found.tolist()))
    """
    said, _ = played(tmp_path, "ring:3", script)

    def spread(row):
        found = np.full(6, -1)
        found[::2] = row
        return found.tolist()

    rows = np.arange(6)[::2] + 10 * np.arange(3)[:, np.newaxis]
    for rank, found in said.items():
        before, after = (rank - 1) % 3, (rank + 1) % 3
        expected = {
            "bcast": spread(rows[0] if rank else -1),
            "alltoallw": spread(rows[before]),
            "allreduce": spread(rows.sum(axis=0)),
            "neighbor_alltoallw": spread(rows[after]),
            "neighbor_allgather": [*rows[before].tolist(), *rows[after].tolist()],
        }
        assert found[:-2] == [row for row in expected.items() for _ in range(2)]
        assert found[-2] == ("bottom", 10 * before)
        assert found[-1] == ("send", rows[before].tolist())


def test_a_prepared_collective_and_one_between_its_starts_do_not_mix(tmp_path):
    script = """
    own, found = np.array([rank + 1]), np.zeros(1, int)
    prepared = comm.Allreduce_init(own, found)
    for time in range(3):
        prepared.Start()
        begun = comm.Iallreduce(own * 10, other := np.zeros(1, int))
        say(comm.allreduce(rank))
        begun.Wait()
        prepared.Wait()
        say((int(found[0]), int(other[0])))
    """
    said, _ = played(tmp_path, "hypercube:2", script)
    assert all(found == [6, (10, 100)] * 3 for found in said.values())


def test_members_begin_to_duplicate_a_communicator_between_groups_in_their_order(tmp_path):
    script = """
    side = comm.Split(rank % 2, rank)
    across = side.Create_intercomm(0, comm, 1 - rank % 2)
    one, begun = across.Idup()
    if rank == 0:
        comm.recv(source=1)
    if rank == 1:
        comm.send(None, 0)
    other = across.Dup()
    begun.Wait()
    other.send((rank, "other"), side.rank)
    one.send((rank, "one"), side.rank)
    say((one.recv(source=side.rank), other.recv(source=side.rank)))
    """
    said, _ = played(tmp_path, "ring:4", script)
    for rank, found in said.items():
        assert found == [((rank ^ 1, "one"), (rank ^ 1, "other"))]


def test_what_has_been_begun_on_a_communicator_outlives_it(tmp_path):
    script = """
    ring = comm.Create_cart([size], [True])
    around = np.zeros(2, int)
    begun = ring.Ineighbor_allgather(np.array([rank]), around)
    ring.Free()
    begun.Wait()
    say(around.tolist())
    old = comm.Dup()
    key = MPI.Comm.Create_keyval(lambda comm, key, value: value + 1)
    old.Set_attr(key, rank)
    made, begun = old.Idup()
    old.Free()
    begun.Wait()
    say((made.allreduce(1), made.Get_attr(key)))
    """
    said, _ = played(tmp_path, "ring:5", script)
    for rank, found in said.items():
        assert found == [[(rank - 1) % 5, (rank + 1) % 5], (5, rank + 1)]


BEGUN_TOO_LONG = """
begun = comm.Ibcast(np.zeros(4 if rank == 0 else 2))
"""


def test_who_waits_for_a_collective_that_has_failed_may_catch_its_error(tmp_path):
    script = """
    try:
        begun.Wait()
        say("complete")
    except MPI.Exception as error:
        say(error.Get_error_class() == MPI.ERR_TRUNCATE)
    say(bool(begun))
    """
    said, _ = played(tmp_path, "ring:4", BEGUN_TOO_LONG + dedent(script))
    assert said[0] == ["complete", False]
    assert all(said[rank] == [True, False] for rank in (1, 2, 3))


def test_a_collective_that_has_failed_ends_the_run_on_the_line_that_waits(tmp_path):
    script = BEGUN_TOO_LONG + "comm.barrier()\nwhile not begun.Test():\n    pass\n"
    with pytest.raises(ProgramError, match="TRUNCATE") as caught:
        played(tmp_path, "ring:4", script)
    line = (PRELUDE + script).splitlines().index("while not begun.Test():") + 1
    assert f"script.py:{line} " in str(caught.value)


@pytest.mark.parametrize(("pattern", "steps"), [("direct", 7), ("tree", 3), ("binomial", 3)])
def test_the_command_lets_collectives_use_a_pattern(tmp_path, pattern, steps):
    script = tmp_path / "script.py"
    script.write_text("from mpi4py import MPI\nMPI.COMM_WORLD.bcast(1)\n")
    command = ["exec", "--on", "complete:8", "--collectives", pattern, str(script)]
    options = parse(command)
    found = module_of("exec").prepare(options).run(transport(), lambda step: None)
    assert found["steps"] == steps


def test_operators_that_do_not_fit_the_datatype_are_refused_on_every_processor(tmp_path):
    """As a real MPI does it before anything is sent: all go on together."""
    script = """
    vector = MPI.INT.Create_vector(2, 1, 1).Commit()
    ones, halves, complexes = np.ones(size, "i"), np.ones(size), np.ones(size, complex)
    for given, kind, op in (
        (complexes, MPI.C_DOUBLE_COMPLEX, MPI.MAX),
        (halves, MPI.DOUBLE, MPI.BAND),
        (halves, MPI.DOUBLE, MPI.MAXLOC),
        (halves, MPI.DOUBLE, MPI.REPLACE),
        (np.ones(2 * size, "i"), vector, MPI.SUM),
    ):
        into, block = np.zeros_like(given), [np.zeros_like(given), 1, kind]
        whole = [given, size, kind]
        for call in (
            lambda: comm.Reduce(whole, [into, size, kind], op, root=size - 1),
            lambda: comm.Allreduce(whole, [into, size, kind], op),
            lambda: comm.Scan(whole, [into, size, kind], op),
            lambda: comm.Iexscan(whole, [into, size, kind], op),
            lambda: comm.Reduce_scatter(whole, block, [1] * size, op),
            lambda: comm.Allreduce(MPI.IN_PLACE, [given, size, kind], op),
        ):
            try:
                call()
                say("done")
            except MPI.Exception as error:
                assert error.Get_error_class() == MPI.ERR_OP, error
    comm.Allreduce(MPI.IN_PLACE, [ones, size, MPI.INT], MPI.BAND)
    say(ones.tolist())
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [[1] * 5] for rank in range(5)}


def test_an_operand_where_the_result_will_be_is_refused_but_as_in_place(tmp_path):
    script = """
    both = np.ones(3)
    for call in (
        lambda: comm.Allreduce(both, both),
        lambda: comm.Iallreduce(both, both),
        lambda: comm.Allreduce([both, 2, MPI.DOUBLE], [both, 2, MPI.DOUBLE]),
    ):
        try:
            call()
        except MPI.Exception as error:
            say(error.Get_error_class() == MPI.ERR_BUFFER)
    comm.Allreduce([both, 0, MPI.DOUBLE], [both, 0, MPI.DOUBLE])
    comm.Allreduce(both[:1], both[1:2])
    comm.Allreduce(MPI.IN_PLACE, both)
    say(both.tolist())
    """
    said, _ = played(tmp_path, "hypercube:2", script)
    assert said == {rank: [True, True, True, [4, 16, 4]] for rank in range(4)}
