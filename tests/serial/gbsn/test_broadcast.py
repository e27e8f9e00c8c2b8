"""The broadcasts of BSN and GBSN send what docs/papers/gbsn, 4, says, step by step."""

from math import ceil

import pytest
from serial.gbsn.reference import Gbsn, rotr
from serial.gbsn.settings import BSN, GBSN, drawn, name
from serial.machine.outcome import moves_of

import mpinet
from mpinet.machine import Machine
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.programs.broadcast import broadcast


def broadcast_of(network, ports, root):
    """The result, and every send as (step, sender, receiver)."""
    machine = Machine(mpinet.open(network), ports, Local(), trace=Trace())
    result = broadcast(machine, root)
    return result, sorted((step, u, v) for step, u, _, v, _ in moves_of(machine))


def by_sections(b, n, root, stride):
    """All sends, with the set of active nodes kept as the text says."""
    active, sends, step = {root}, [], 0
    for start in range(0, n, b):
        width = min(b, n - start)
        for low in range(0, width, stride):
            step += 1
            patterns = [d << low for d in range(1, 2 ** min(stride, width - low))]
            sends += [(step, u, u ^ d) for u in active for d in patterns]
            active |= {u ^ d for u in active for d in patterns}
        if start + b < n:
            step += 1
            sends += [(step, u, rotr(u, b, n)) for u in active if rotr(u, b, n) != u]
            active = {rotr(u, b, n) for u in active}
    return sorted(sends)


@pytest.mark.costly
@pytest.mark.parametrize(("a", "b", "n"), BSN)
def test_bsn_is_informed_section_by_section_in_the_stated_steps(a, b, n):
    for root in sorted({0, 1, 2**n // 3, 2**n - 1}):
        one, sends = broadcast_of(f"bsn:{a},{b},{n}", "one", root)
        assert sends == by_sections(b, n, root, 1)
        assert (one.algorithm, one.steps, one.informed) == (
            "sections",
            n + ceil(n / b) - 1,
            2**n,
        )
        every, sends = broadcast_of(f"bsn:{a},{b},{n}", "all", root)
        assert sends == by_sections(b, n, root, a)
        assert (every.algorithm, every.steps, every.informed) == (
            "subsections" if a > 1 else "sections",
            ceil(n / a) + ceil(n / b) - 1,
            2**n,
        )
        assert one.lower_bound <= one.steps
        assert every.lower_bound <= every.steps
        assert sum(steps for _, steps in one.phases) == one.steps


def by_routes(network, root):
    """Sends along the routes to the root over single-bit links, children served one a step."""
    single = Gbsn(network.b, network.m, 1, network.completed)
    parent = {v: single.next_hop(v, root)[0] for v in range(len(single.nodes)) if v != root}

    def children(u):
        block, place = single.nodes[u]
        order = []
        for side in ("right", "left"):
            if end := single.shift_ends.get((block, place, side)):
                order.append((single.number[end[:2]], (*end[:2], end[2])))
        for bit in reversed(range(single.w_of[block])):
            other = (block, place ^ 1 << bit)
            if other in single.number:
                order.append((single.number[other], None))
        seen = []
        for v, _ in order:
            if parent.get(v) == u and v not in seen:
                seen.append(v)
        return seen

    sends, since, todo = [], {root: 0}, [root]
    while todo:
        u = todo.pop()
        for index, v in enumerate(children(u), start=1):
            since[v] = since[u] + index
            sends.append((since[v], u, v))
            todo.append(v)
    return sorted(sends)


IRREGULAR = [(name(network), network) for network in drawn(seed=5, count=12, most=12)]


@pytest.mark.parametrize(("text", "network"), [*GBSN.items(), *IRREGULAR])
def test_gbsn_is_informed_along_its_routes(text, network):
    size = len(network.nodes)
    for root in sorted({0, size // 2, size - 1}):
        result, sends = broadcast_of(text, "one", root)
        assert sends == by_routes(network, root)
        assert result.algorithm == "routes"
        assert (result.informed, result.messages) == (size, size - 1)
        assert result.steps == max((step for step, _, _ in sends), default=0)
        assert result.lower_bound <= result.steps


def test_where_the_gbsn_is_not_completed_there_are_passes():
    topology = mpinet.open("gbsn:1,m=4-4-4-2,a=1,completed=no")
    assert broadcast(Machine(topology, "one", Local()), 3).algorithm == "passes"
