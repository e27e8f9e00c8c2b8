"""The broadcasts of the lens room send what docs/papers/lens, 7, says, step by step."""

from math import ceil

import pytest
from serial.lens.reference import lens, partial_lens, put, snowflake, star
from serial.machine.outcome import moves_of

import mpinet
from mpinet.machine import Machine, PortModel
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.programs.broadcast import broadcast

ALL, ONE = PortModel(send=1), PortModel(send=1, receive=1)


def broadcast_of(network, model, root, algorithm=None):
    """The result, and every transmission as (step, sender, bus)."""
    topology = mpinet.open(network)
    machine = Machine(topology, model, Local(), trace=Trace())
    result = broadcast(machine, root, algorithm)
    moves = {(step, u, topology.channel(u, port)) for step, u, port, _, _ in moves_of(machine)}
    assert result.messages == len(moves)
    return result, sorted(moves)


def carried(network, told):
    """Transmissions of labels as sorted (step, sender, bus); busses without listeners left out."""
    return sorted(
        (step, network.number[u], network.bus_number[bus])
        for step, u, bus in told
        if len(network.members[bus]) > 1
    )


def circle_sweep(p, n, root):
    """The completed lens's sweep (ONE) by labels; every listener hears exactly one sender."""
    network = lens(p, p, n, completed=True)
    k0, s = network.processors[root]
    informed, told = {(k0, s)}, []

    def row(k):
        return (k - 1) % n + 1

    def own(u):
        return network.busses_of[u][0]

    def lower(u, c):
        return network.busses_of[u][1 + c]

    def carry(step, sends, listening):
        told.extend((step, u, bus) for u, bus in sends.items())
        assert set(sends) <= informed
        assert len(set(sends.values())) == len(sends), "one transmission a bus"
        for v, bus in listening.items():
            heard = [u for u, on in sends.items() if on == bus and u != v]
            informed.update([v] if heard else [])

    def in_row(k):
        return [u for u in network.processors if u[0] == row(k)]

    for step in range(1, n + 1):
        free = {row(k0 + i) for i in range(1, step)}
        front = [
            u
            for u in in_row(k0 + step - 1)
            if all(u[1][i - 1] == s[i - 1] for i in range(1, n + 1) if i not in free)
        ]
        target = row(k0 + step)
        carry(
            step,
            {u: own(u) for u in front if u in informed},
            {v: lower(v, s[target - 1]) for v in in_row(target)},
        )
    assert set(in_row(k0)) <= informed
    sends = {}
    meet = row(k0 + 1) == row(k0 - 1)
    for u in in_row(k0):
        beta, gamma = u[1][k0 - 1], u[1][row(k0 + 1) - 1]
        if beta == gamma:
            sends[u] = own(u)
        elif not meet:
            sends[u] = lower(u, beta if beta != s[k0 - 1] else gamma)
    listening = {v: own(v) for v in in_row(k0 - 1)}
    listening |= {v: lower(v, v[1][k0 - 1]) for v in in_row(k0 + 1)}
    carry(n + 1, sends, listening)
    for r in range(2, n // 2 + 1):
        meet = row(k0 + r) == row(k0 - r)
        sends = {u: own(u) for u in in_row(k0 + r - 1) if u[1][row(k0 + r) - 1] == 0}
        listening = {v: lower(v, 0) for v in in_row(k0 + r)}
        if not meet:
            behind = row(k0 - r + 1)
            sends |= {u: lower(u, u[1][behind - 1]) for u in in_row(behind)}
            listening |= {v: own(v) for v in in_row(k0 - r)}
        carry(n + r, sends, listening)
    assert informed == set(network.processors)
    return carried(network, told)


@pytest.mark.costly
@pytest.mark.parametrize(
    ("p", "n"), [(3, 2), (3, 3), (3, 4), (3, 5), (4, 2), (4, 3), (4, 4), (5, 2), (5, 3), (6, 2)]
)
def test_completed_lens_is_swept_in_the_stated_steps(p, n):
    size = n * (p - 1) ** n
    for root in sorted({0, 1, size // 3, size // 2, size - 1}):
        expected = circle_sweep(p, n, root)
        for model in (ONE, ALL, "one", "all"):
            result, sends = broadcast_of(f"clens:{p},{n}", model, root)
            assert (result.algorithm, result.steps) == ("sweep", 3 * n // 2)
            assert (result.informed, sends) == (size, expected)
            assert result.lower_bound <= result.steps


@pytest.mark.costly
@pytest.mark.parametrize("n", range(2, 12))
def test_ring_of_busses_takes_half_of_it(n):
    for root in range(n):
        for model in (ONE, ALL):
            result, _ = broadcast_of(f"clens:2,{n}", model, root)
            assert (result.steps, result.informed) == (ceil(n / 2), n)
        result, _ = broadcast_of(f"clens:2,{n}", ALL, root, "flooding")
        assert (result.steps, result.informed) == (ceil(n / 2), n)


def straight_sweep(p, q, n, root):
    """The uncompleted lens's sweep by labels; whoever is on a bus hears it (ALL)."""
    network = lens(p, q, n)
    R, S = p - 1, q - 1
    start = network.processors[root]
    informed, told, step, last = {start}, [], 0, 0

    def carry(sends):
        nonlocal step, last
        step += 1
        told.extend((step, u, bus) for u, bus in sends)
        assert {u for u, _ in sends} <= informed
        assert len({bus for _, bus in sends}) == len(sends), "one transmission a bus"
        before = len(informed)
        for _, bus in sends:
            informed.update(network.members[bus])
        last = step if len(informed) > before else last

    def lower(u, c):
        return (u[0] - 1, put(u[1], u[0], c))

    u = start
    while u[0] > 1:
        carry([(u, lower(u, 0))])
        u = lower(u, 0)
    front = {u}
    if p >= 3:
        carry([(u, lower(u, 0))])
        front = {(1, put(u[1], 1, b)) for b in range(R)}
    for k in range(1, n):
        carry([(u, u) for u in front])
        front = {(k + 1, put(d, k + 1, b)) for _, d in front for b in range(R)}
    for k in range(n, 1, -1):
        row = [u for u in network.processors if u[0] == k]
        for r in range(ceil(S / R)):
            busses = [(u, u[1][k - 1] + r * R) for u in row]
            carry([(u, lower(u, c)) for u, c in busses if c < S])
    assert informed == set(network.processors)
    return carried(network, told), step, last


SETTINGS = [
    (3, 3, 1),
    (5, 2, 1),
    (3, 3, 2),
    (3, 3, 3),
    (3, 4, 3),
    (4, 3, 3),
    (3, 2, 4),
    (2, 3, 4),
    (2, 2, 5),
    (2, 4, 3),
    (5, 3, 2),
    (3, 6, 2),
    (4, 4, 3),
]


@pytest.mark.costly
@pytest.mark.parametrize(("p", "q", "n"), SETTINGS)
def test_uncompleted_lens_is_swept_in_the_stated_steps_of_which_those_count_that_inform(p, q, n):
    network = lens(p, q, n)
    size = len(network.processors)
    for root in sorted({0, 1 % size, size // 3, size // 2, size - 1}):
        row = network.processors[root][0]
        expected, made, steps = straight_sweep(p, q, n, root)
        stated = row - 1 + (p >= 3) + (n - 1) + (n - 1) * ceil((q - 1) / (p - 1))
        assert steps <= made == stated
        for model in (ONE, ALL, "all"):
            result, sends = broadcast_of(f"lens:{p},{q},{n}", model, root)
            assert (result.algorithm, result.steps, result.informed) == ("sweep", steps, size)
            assert sends == expected
            assert sum(length for _, length in result.phases) == steps


def flooded(network, root):
    """Sends (step, sender, bus) of a flood by the text; busses with one member are no ports."""
    busses_of = {
        u: [bus for bus in network.busses_of[u] if len(network.members[bus]) > 1]
        for u in network.processors
    }
    informed, used, told, step = {network.processors[root]}, set(), [], 0
    while len(informed) < len(network.processors):
        step += 1
        offers = {}
        for u in informed:
            free = [bus for bus in busses_of[u] if bus not in used]
            if free:
                offers.setdefault(free[0], []).append(u)
        for bus, members in offers.items():
            told.append((step, min(members, key=network.members[bus].index), bus))
            used.add(bus)
            informed |= set(network.members[bus])
    return sorted((step, network.number[u], network.bus_number[bus]) for step, u, bus in told)


FLOODED = {
    "clens:3,3": lens(3, 3, 3, True),
    "clens:3,4": lens(3, 3, 4, True),
    "clens:4,2": lens(4, 4, 2, True),
    "clens:5,2": lens(5, 5, 2, True),
    "clens:2,7": lens(2, 2, 7, True),
    "lens:3,4,3": lens(3, 4, 3),
    "lens:2,3,3": lens(2, 3, 3),
    "plens:3,20": partial_lens(3, 20, 3),
}


@pytest.mark.parametrize("name", FLOODED)
def test_flooding_offers_busses_in_port_order(name):
    network = FLOODED[name]
    size = len(network.processors)
    for root in sorted({0, size // 2, size - 1}):
        result, sends = broadcast_of(name, ALL, root, "flooding")
        assert sends == flooded(network, root)
        assert (result.algorithm, result.informed) == ("flooding", size)
        assert result.steps == max(step for step, _, _ in sends)


@pytest.mark.parametrize(("p", "n"), [(3, 2), (3, 3), (3, 4), (4, 3), (5, 2), (6, 2)])
def test_flooding_the_completed_lens_takes_the_steps_of_the_sweep(p, n):
    # claim LENS-X-flood-completed
    for root in (0, n * (p - 1) ** n - 1):
        result, _ = broadcast_of(f"clens:{p},{n}", ALL, root, "flooding")
        assert result.steps == 3 * n // 2


@pytest.mark.parametrize(
    ("name", "network"), [("snowflake:3,3", snowflake(3, 3)), ("busstar:3,3", star(3, 3))]
)
def test_every_bus_network_has_flooding(name, network):
    result, _ = broadcast_of(name, "all", 4, "flooding")
    assert (result.algorithm, result.informed) == ("flooding", len(network.processors))


def test_who_accepts_one_message_is_not_flooded_by_default():
    result = broadcast(Machine("snowflake:3,3", "one", Local()), 0)
    assert result.algorithm == "passes"
