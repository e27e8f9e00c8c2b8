"""Other orders of arrival: all that MPI allows, none that it does not, drawn by a seed."""

from itertools import permutations

import pytest
from mpi.scripts.playing import played

from mpinet.errors import Deadlock

pytestmark = pytest.mark.mpi

SEEDS = range(40)


def outcomes(folder, script, network="ring:3"):
    """What processor 0 says with each seed."""
    return [played(folder, network, script, arrivals=seed)[0][0] for seed in SEEDS]


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
            _, outcome = played(tmp_path, "ring:3", script, arrivals=seed)
        except Deadlock as error:
            stuck.append(str(error))
        else:
            assert [(one.account.kind, one.times, one.most) for one in outcome.drawn] in (
                [("recv", 1, 2)],
                [],  # on other ranks than 0
            )
    assert 0 < len(stuck) < len(SEEDS)
    played(tmp_path, "ring:3", script)  # as the messages come, it ends well
