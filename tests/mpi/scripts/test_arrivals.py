"""Other orders of arrival: all that MPI allows, none that it does not, drawn by a seed."""

from itertools import permutations

import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import played

from mpinet.errors import Deadlock, UsageError
from mpinet.mpi.tried import try_all
from mpinet.mpi.world.orders import PrefixReplay, SeededOrder, order_of

pytestmark = pytest.mark.mpi

SEEDS = range(40)


def outcomes(folder, script, network="ring:3"):
    """What processor 0 says with each seed."""
    return [played(folder, network, script, arrivals=SeededOrder(seed))[0][0] for seed in SEEDS]


def test_receives_from_any_rank_meet_all_orders_in_which_messages_of_one_rank_do_not_overtake(
    tmp_path,
):
    script = """
    if rank:
        comm.send(f"{rank}a", 0)
        comm.send(f"{rank}b", 0)
    else:
        say([comm.recv(source=MPI.ANY_SOURCE) for _ in range(4)])
    """
    messages = ("1a", "1b", "2a", "2b")
    allowed = [
        list(order)
        for order in permutations(messages)
        if all(order.index(f"{rank}a") < order.index(f"{rank}b") for rank in (1, 2))
    ]
    found = [said for (said,) in outcomes(tmp_path, script)]
    assert sorted(map(tuple, allowed)) == sorted(set(map(tuple, found)))


def test_a_receive_that_names_its_source_takes_nothing_from_one_that_was_posted_before(tmp_path):
    script = """
    if rank:
        comm.send((rank, "first"), 0)
        if rank == 1:
            comm.send((rank, "second"), 0)
    else:
        requests = [comm.irecv(source=source) for source in (MPI.ANY_SOURCE, 1, MPI.ANY_SOURCE)]
        say([request.wait() for request in requests])
    """
    first, second, other = (1, "first"), (1, "second"), (2, "first")
    allowed = {(first, second, other), (other, first, second)}
    assert {tuple(said) for (said,) in outcomes(tmp_path, script)} == allowed


def test_probes_and_waits_for_one_of_several_meet_all_orders(tmp_path):
    script = """
    if rank:
        comm.send(rank, 0, tag=1)
        comm.send(rank, 0, tag=2)
    else:
        requests = [comm.irecv(source=source, tag=1) for source in (1, 2)]
        order = [MPI.Request.waitany(requests)[1] for _ in requests]
        status = MPI.Status()
        comm.probe(source=MPI.ANY_SOURCE, tag=2, status=status)
        say((order, comm.recv(source=status.source, tag=2)))
        comm.recv(source=MPI.ANY_SOURCE)
    """
    found = {(*order, probed) for ((order, probed),) in outcomes(tmp_path, script)}
    assert found == {(1, 2, 1), (1, 2, 2), (2, 1, 1), (2, 1, 2)}


def test_a_deadlock_that_needs_another_order_is_found_and_the_open_receive_is_named(tmp_path):
    script = """
    if rank:
        comm.send(rank, 0)
    else:
        first = comm.recv(source=MPI.ANY_SOURCE)
        comm.recv(source=2)
    """
    stuck = []
    for seed in SEEDS:
        try:
            _, outcome = played(tmp_path, "ring:3", script, arrivals=SeededOrder(seed))
        except Deadlock as error:
            stuck.append(str(error))
        else:
            assert [(one.account.kind, one.times, one.most) for one in outcome.drawn] in (
                [("recv", 1, 2)],
                [],  # on other ranks than 0
            )
    assert 0 < len(stuck) < len(SEEDS)
    played(tmp_path, "ring:3", script)  # as the messages come, it ends well


def every(folder, script, network, most=200):
    """What all orders of a script show."""

    def run(orders, told, is_first):
        said, outcome = played(folder, network, script, arrivals=orders)
        told.update((number, str(values)) for number, values in said.items())
        return outcome

    return try_all(transport(), run, most)[1]


TWO_EACH = """
if rank:
    comm.send(f"{rank}a", 0)
    comm.send(f"{rank}b", 0)
else:
    got = [comm.recv(source=MPI.ANY_SOURCE) for _ in range(4)]
    say(sorted(got))
"""


def test_all_orders_are_as_many_as_there_are_interleavings_and_independent_ones_are_not_multiplied(
    tmp_path,
):
    interleavings = len(set(permutations("1122")))
    assert every(tmp_path, TWO_EACH, "ring:3") == (interleavings, True, "same", "", "")
    assert every(tmp_path, TWO_EACH, "ring:3", interleavings - 1).all is False
    each_of_two_receivers_alone = """
    if rank in (0, 3):
        say(sum(comm.recv(source=MPI.ANY_SOURCE) for _ in range(2)))
    elif rank in (1, 2):
        comm.send(rank, 0)
    else:
        comm.send(rank, 3)
    """
    found = every(tmp_path, each_of_two_receivers_alone, "ring:6")
    assert found.tried == 2 * 2  # and not twice as many, for who is first
    assert found.all


def test_an_order_that_ends_otherwise_is_found_and_shows_it_again(tmp_path):
    """A message that is sent because of one processor's choice is got by another's earlier receive.

    Nobody finds this who lets all receives get what has come at the first quiet moment.
    """
    late = """
    if rank == 0:
        say(comm.recv(source=MPI.ANY_SOURCE))
        comm.recv(source=MPI.ANY_SOURCE)
    elif rank == 1:
        comm.send("early", 0)
    elif rank == 2:
        comm.recv(source=MPI.ANY_SOURCE)
        comm.send("late", 0)
    else:
        comm.send(None, 2)
    """
    found = every(tmp_path, late, "ring:4")
    assert (found.outcome, "'late'" in found.difference) == ("output", True)
    for order, said in ((found.order, "late"), ("0:0", "early")):
        again, _ = played(tmp_path, "ring:4", late, arrivals=PrefixReplay(order_of(order)))
        assert again[0] == [said]
    with pytest.raises(UsageError, match="choice 1 is 1:0"):
        played(tmp_path, "ring:4", late, arrivals=PrefixReplay(order_of("1:0")))
    assert {said for (said,) in outcomes(tmp_path, late, "ring:4")} == {"early", "late"}


@pytest.mark.parametrize(
    ("end", "outcome"),
    [
        ("comm.recv(source=3 - first)", "same"),
        ("comm.recv(source=2)", "deadlock"),
        ("assert comm.recv(source=3 - first) == 2", "failure"),
        ("_ = first == 1 and comm.recv(source=2)", "unreceived"),
        ("say(comm.recv(source=3 - first))", "output"),
    ],
)
def test_each_kind_of_other_outcome_is_told(tmp_path, end, outcome):
    script = f"""
    if rank:
        comm.send(rank, 0)
    else:
        first = comm.recv(source=MPI.ANY_SOURCE)
        {end}
    """
    found = every(tmp_path, script, "ring:3")
    assert found.outcome == outcome
    assert (found.order, found.tried) == ("" if outcome == "same" else "0:1", 2)
