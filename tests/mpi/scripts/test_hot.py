"""Where a script is slow: its hottest links with their lines, queues, waits."""

from collections import Counter

import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import PRELUDE, played

from mpinet.machine.transport import Local

pytestmark = pytest.mark.mpi

FIRST = len(PRELUDE.splitlines()) + 1


def test_links_are_as_loaded_as_messages_walk_and_by_their_lines(tmp_path):
    script = """
    comm.send(None, (3 * rank + 1) % size)
    comm.send(None, size - 1 - rank, tag=1)
    if rank % 2:
        comm.send(None, 0, tag=2)
    """
    size, loads = 16, Counter()
    sends = [(rank, (3 * rank + 1) % size, 2) for rank in range(size)]
    sends += [(rank, size - 1 - rank, 3) for rank in range(size)]
    sends += [(rank, 0, 5) for rank in range(1, size, 2)]
    for at, target, line in sends:
        while at != target:  # a hypercube's own routing crosses the lowest dimension first
            port = ((at ^ target) & -(at ^ target)).bit_length() - 1
            loads[at, port, line] += 1
            at ^= 1 << port
    total = Counter()
    for (node, port, _), messages in loads.items():
        total[node, port] += messages
    ten = sorted(total, key=lambda link: (-total[link], link))[:10]
    _, outcome = played(tmp_path, "hypercube:4", script, metered=True)
    found = outcome.hot.get("busiest_links", []) or [None] * 10  # on other ranks than 0
    for link, (node, port) in zip(found, ten, strict=True):
        if link is not None:
            by_line = {row["line"] - FIRST + 1: row["messages"] for row in link["loaded_by"]}
            assert (link["node"], link["port"], link["to"]) == (node, port, node ^ 1 << port)
            assert link["messages"] == total[node, port]
            assert by_line == {
                line: loads[node, port, line] for line in (2, 3, 5) if loads[node, port, line]
            }


def test_queues_and_waits_are_those_of_a_port_and_a_way(tmp_path):
    script = """
    if rank == 0:
        for _ in range(4):
            comm.send(None, 1)
        comm.send(None, 3, tag=5)
    elif rank == 1:
        for _ in range(4):
            comm.recv(source=0)
    elif rank == 3:
        comm.recv(source=0, tag=5)
    """
    hot = played(tmp_path, "ring:9", script, ports="one", metered=True)[1].hot
    if hot:
        # five messages at port 0 of processor 0, of which one leaves in a step; the last goes on
        assert hot["longest_queues"] == [{"node": 0, "messages": 4, "step": 1}]
        assert hot["waiting"] == [{"processor": 3, "steps": 7}, {"processor": 1, "steps": 4}]
        lines = [(row["line"] - FIRST + 1, row["steps"], row["longest"]) for row in hot["waits"]]
        assert lines == [(10, 7, 7), (8, 4, 1)]
        assert [row["processor"] for row in hot["waits"]] == [3, 1]


def test_what_is_metered_is_the_same_on_any_number_of_ranks_and_only_where_it_is_asked_for(
    tmp_path,
):
    script = """
    comm.alltoall([rank] * size)
    comm.allreduce(rank)
    comm.sendrecv(None, dest=(rank + 5) % size, source=(rank - 5) % size)
    """
    options = {"packet": 4, "metered": True}
    together = played(tmp_path, "torus:3x4", script, **options)[1].hot
    alone = played(tmp_path, "torus:3x4", script, where=Local(), **options)[1].hot
    assert transport().rank > 0 or together == alone
    assert set(alone) == {"busiest_links", "longest_queues", "waits", "waiting"}
    assert played(tmp_path, "torus:3x4", script)[1].hot is None
    busses = played(tmp_path, "busstar:3,3", script, metered=True)[1].hot
    assert all("to" not in link for link in busses.get("busiest_links", []))
