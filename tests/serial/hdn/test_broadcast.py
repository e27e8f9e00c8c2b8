"""The broadcast of hierarchical dual-nets is the mended Algorithm 2 (docs/papers/hdn, 6)."""

from math import ceil, log2

import networkx
import numpy as np
import pytest
from serial.hdn.reference import Network
from serial.hdn.settings import LARGE, SMALL, ring
from serial.machine.outcome import moves_of

import mpinet
from mpinet.base.arguments import PortRule, ScheduleRule
from mpinet.base.arrays import Ints, Table
from mpinet.compiled import kernel
from mpinet.machine import Machine
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.programs.broadcast import broadcast

EXAMPLE = "hdn:2x3x5,super=0.1/1.2"
SYMMETRIC = [name for name in SMALL if "P" not in name]


@kernel
def run(
    schedule_rule: ScheduleRule,
    wiring: PortRule,
    root: int,
    steps: int,
    params: Ints,
    since: Ints,
    sends: Table,
) -> int:
    """Write (step, sender, receiver) of every send; how many, or -1 if one-port is broken."""
    send, neighbor, count = schedule_rule.call, wiring.call, 0
    since[root] = 0
    for step in range(1, steps + 1):
        for u in range(since.size):
            if since[u] < 0 or since[u] == step:
                continue
            port = send(u, root, since[u], step, params)
            if port < 0:
                continue
            v = neighbor(u, port, params)
            if v < 0 or since[v] >= 0:
                return -1
            since[v] = step
            sends[count, 0], sends[count, 1], sends[count, 2] = step, u, v
            count += 1
    return count


def sends_of(topology, root):
    schedule = topology.schedules(root)["algorithm2"]()
    since, sends = np.full(topology.size, -1), np.zeros((topology.size, 3), np.int64)
    natives = schedule.rule.native, topology.neighbor.native
    count = run(*natives, root, schedule.steps, schedule.params, since, sends)
    assert count == topology.size - 1, "one send to each, none to one who knows"
    return {tuple(send) for send in sends[:count].tolist()}, schedule


def theorem_3(reference):
    """Steps by Theorem 3; 2^(k-1) less where SN^1 is the whole base (claim HDN-X-bcast-exact)."""
    times = [reference.factor_steps(j) for j in range(len(reference.b))]
    inside = [sum(times[j] for j in members) for members in reference.levels]
    k = reference.k
    total = 2**k * sum(times) - sum(2**i * inside[k - i - 1] for i in range(k)) + 2 ** (k + 1) - 2
    return total - (2 ** (k - 1) if k and reference.n[1] == 1 else 0)


def test_phases_of_the_vector():
    # docs/papers/hdn, 6.2
    schedule = mpinet.open(EXAMPLE).schedules(0)["algorithm2"]()
    names = " ".join(name for name, _ in schedule.phases)
    assert names == "D0 D1 D2 X1 D2 Y1 X2 D0 X1 D2 Y1 Y2"
    assert schedule.steps == 19


@pytest.mark.costly
@pytest.mark.parametrize("name", SYMMETRIC)
def test_schedule_is_that_of_the_specification_from_every_root(name):
    topology, reference = mpinet.open(name), SMALL[name]
    for root in range(0, topology.size, 1 + topology.size // 40):
        sends, schedule = sends_of(topology, root)
        assert sends == reference.broadcast(root)
        expected = [
            (phase, steps) for phase, steps, _, _ in reference.phases(reference.k, (), 0, -1)
        ]
        assert list(schedule.phases) == expected
        assert max(step for step, _, _ in sends) == schedule.steps == theorem_3(reference)


@pytest.mark.costly
@pytest.mark.parametrize("name", [name for name in LARGE if LARGE[name].size < 10**5])
def test_schedule_is_that_of_the_specification_in_larger_networks(name):
    topology, reference = mpinet.open(name), LARGE[name]
    root = int(np.random.default_rng(2).integers(topology.size))
    sends, schedule = sends_of(topology, root)
    assert schedule.steps == theorem_3(reference)
    if topology.size <= 12000:
        assert sends == reference.broadcast(root)


@pytest.mark.parametrize("name", [name for name in SMALL if "P" in name])
def test_base_with_paths_is_informed_from_every_root(name):
    topology = mpinet.open(name)
    for root in range(topology.size):
        sends, schedule = sends_of(topology, root)
        assert max(step for step, _, _ in sends) == schedule.steps


@pytest.mark.parametrize(
    "name", ["dualcube:4", "hdn:4,super=0/-", "hdn:2x2,super=0/1", "hdn:6,super=-", "rdn:2,2"]
)
def test_broadcast_over_two_rings_and_even_rings_is_optimal(name):
    # claim HDN-X-bcast-optimal: steps = diameter
    topology = mpinet.open(name)
    graph = networkx.Graph(
        (u, topology.neighbor(u, port))
        for u in range(topology.size)
        for port in range(topology.ports)
    )
    steps = topology.schedules(5)["algorithm2"]().steps
    assert steps == networkx.diameter(graph)


@pytest.mark.parametrize("factor", [f"{n}" for n in range(3, 14)] + [f"K{n}" for n in range(2, 12)])
def test_time_of_one_factor(factor):
    # docs/papers/hdn, 6.1
    n = int(factor.lstrip("K"))
    steps = mpinet.open(f"hdn:{factor}").schedules(n - 1)["algorithm2"]().steps
    assert steps == (ceil(log2(n)) if factor[0] == "K" else ceil(n / 2))


def test_plain_python_sends_the_same():
    topology = mpinet.open("hdn:4x3,super=0.1/1")
    schedule = topology.schedules(77)["algorithm2"]()
    sends, _ = sends_of(topology, 77)
    since = {77: 0} | {v: step for step, _, v in sends}
    for step in range(1, schedule.steps + 1):
        for u, at in since.items():
            if at < step:
                port = schedule.rule(u, 77, at, step, schedule.params)
                v = topology.neighbor(u, port) if port >= 0 else None
                assert (v is not None) == ((step, u, v) in sends)


@pytest.mark.parametrize("name", [EXAMPLE, "rdn:2x3x5,1", "dualcube:3*ring:5"])
def test_machine_accepts_the_schedule(name):
    topology = mpinet.open(name)
    found = broadcast(Machine(topology, "one"), topology.size // 3)
    assert found.algorithm.startswith("algorithm2")
    assert found.informed == topology.size
    assert found.messages == topology.size - 1
    assert found.steps >= found.lower_bound


def test_schedule_of_a_machine_with_millions_of_processors_is_a_rule():
    topology = mpinet.open("rdn:2x3x5,2")
    schedule = topology.schedules(1234567)["algorithm2"]()
    assert schedule.steps == theorem_3(Network([ring(2), ring(3), ring(5)], [(), ()]))
    assert schedule.params.size < 300
    assert schedule.rule(1234567, 1234567, 0, 1, schedule.params) == 0


def printed_phases(reference):
    """6.3: the phases' names."""
    outside = [f"D{j}" for j in range(len(reference.b)) if j not in reference.levels[0]]

    def again(k):
        if k == 1:
            return [*outside, "X1", *outside, "X1"]
        wider, narrower = reference.levels[k - 2], reference.levels[k - 1]
        below = again(k - 1)
        return [*(f"D{j}" for j in wider if j not in narrower), *below, f"X{k}", *below, f"X{k}"]

    return [*(f"D{j}" for j in reference.levels[-1]), *again(reference.k)]


def printed_informed(reference, root):
    """Who is informed in the end if every informed node is the source of its lines' broadcasts."""
    known = {reference.node(root)}
    for name in printed_phases(reference):
        number = int(name[1:])
        if name[0] == "X":
            known |= {reference.cross(number, x) for x in known}
            continue
        at, size = 2 * reference.k + number, reference.b[number]
        known |= {(*x[:at], digit, *x[at + 1 :]) for x in known for digit in range(size)}
    return {reference.number(x) for x in known}


PRINTED = [name for name in SYMMETRIC if SMALL[name].k] + [EXAMPLE]


@pytest.mark.costly
@pytest.mark.parametrize("name", PRINTED)
def test_printed_form_takes_its_phases_and_informs_whom_it_reaches(name):
    reference = (SMALL | LARGE)[name]
    times = {f"D{j}": reference.factor_steps(j) for j in range(len(reference.b))}
    phases = [(phase, times.get(phase, 1)) for phase in printed_phases(reference)]
    for root in sorted({0, reference.size // 3, reference.size - 1}):
        topology = mpinet.open(name)
        machine = Machine(topology, "one", Local(), trace=Trace())
        result = broadcast(machine, root, "printed")
        assert list(topology.schedules(root)["printed"]().phases) == phases
        assert machine.steps == sum(steps for _, steps in phases)
        assert result.informed == len(printed_informed(reference, root))
        first = {}
        for step, _, _, receiver, _ in moves_of(machine):
            first.setdefault(receiver, step)
        first.pop(root, None)
        assert result.steps == max(first.values())
        assert sum(steps for _, steps in result.phases) == result.steps
        assert [name for name, _ in result.phases] == [name for name, _ in phases][
            : len(result.phases)
        ]


def test_printed_form_does_not_inform_everybody():
    # claim HDN-A2-complete is refuted
    result = broadcast(Machine(mpinet.open(EXAMPLE), "one"), 0, "printed")
    assert result.informed < mpinet.open(EXAMPLE).size
