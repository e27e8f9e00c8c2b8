"""`check` tries out what a topology promises beyond its wiring, and names what is broken."""

from dataclasses import replace

import pytest

import mpinet
from mpinet import Topology, rule
from mpinet.errors import MpinetError, RoutingError, RuleError, WiringError
from mpinet.machine.placement import clustered
from mpinet.networks.classic.grid import MINUS, PLUS, path_send
from mpinet.networks.cycle import ring_cycle
from mpinet.networks.routing import stateless
from mpinet.networks.schedule import Schedule


@rule
def around(node, header, params):
    """The shorter way round."""
    ahead = (header[0] - node) % params[0]
    if ahead == 0:
        return -1
    return 0 if 2 * ahead <= params[0] else 1


@rule
def stops_once(node, header, params):
    """Arrives at 3 with messages from 2 to 7."""
    ahead = (header[0] - node) % params[0]
    if ahead == 0 or (node == 3 and header[0] == 7):
        return -1
    return 0 if 2 * ahead <= params[0] else 1


@rule
def gives_up(node, header, params):
    """Knows no way."""
    return -1 if node == header[0] else -2


@rule
def always_ahead(node, header, params):
    """One way round only."""
    return -1 if node == header[0] else 0


@rule
def writes_much(source, target, header, params):
    """Two words."""
    header[0] = target
    header[1] = source


@rule
def both_ways(node, root, since, step, params):
    """Ahead, and from the root back in the second step."""
    if node == root:
        return step - 1 if step <= 2 else -1
    return (0 if (node - root) % params[0] <= params[0] // 2 else 1) if step == since + 1 else -1


@rule
def both_at_once(node, root, since, step, params):
    """Ports 0 and 1."""
    return (1 << 32) if step == since + 1 else -1


@rule
def nobody_sends(node, root, since, step, params):
    """Nothing."""
    return -1


@rule
def into_the_void(node, root, since, step, params):
    """A port that is not there."""
    return 2


class Ring(Topology):
    """A ring of 10 whose promises can be replaced."""

    decides = (around,)
    starts = ()
    shortest = True
    schedule_rule = both_ways
    phases = (("ahead", 6),)
    port = 0

    def __init__(self):
        super().__init__("10", size=10, ports=2)

    @rule
    def neighbor(node, port, params):
        return (node + 1 - 2 * port) % params[0]

    @property
    def routings(self):
        made = {}
        for number, decide in enumerate(self.decides):
            routing = stateless(f"r{number}", decide, self, shortest=self.shortest)
            routing = replace(routing, start=(*self.starts, routing.start)[0])
            made[routing.name] = lambda routing=routing: routing
        return made

    def schedules(self, root):
        made = Schedule("own", root, type(self).schedule_rule, self.params, self.phases)
        return {"own": lambda: made}

    def cycle(self):
        return ring_cycle(self.params, self.port)


def broken(**promises):
    """A ring with other promises."""
    return type("Broken", (Ring,), promises)()


class OneChannel(Ring):
    @rule
    def neighbor(node, port, params):
        return (node + 1 - 2 * port) % params[0]

    @rule
    def channel(node, port, params):
        link = (node - port) % params[0]
        return 4 if link == 7 else link


class NoOrder(Ring):
    @rule
    def cluster_order(number, direction, params):
        return number // 2


class OrderOutside(Ring):
    @rule
    def cluster_order(number, direction, params):
        return number * 3


def test_promises_that_are_kept_are_accepted():
    report = mpinet.check(Ring())
    assert report.routes == 100  # all pairs
    assert mpinet.check(broken(decides=(around, gives_up))).routes == 200


@pytest.mark.parametrize(
    ("topology", "error", "sentence"),
    [
        (broken(decides=(stops_once,)), RoutingError, r"r0 .* stopped at node 3 .* from \d to 7"),
        (broken(decides=(around, stops_once)), RoutingError, "r1 .* stopped at node 3"),
        (broken(decides=(gives_up,)), RoutingError, "stopped at node 0"),
        (
            broken(decides=(always_ahead,)),
            RoutingError,
            r"takes 6 hops from 0 to 6, where 4 are enough. If longer .* shortest=False",
        ),
        (broken(starts=(writes_much,)), RuleError, r"test_promises.py:\d+: .* a header of 1 words"),
        (
            OneChannel(),
            WiringError,
            r"channel\(\d, \d\) = channel\(\d, \d\) = 4, but these are two",
        ),
        (broken(schedule_rule=both_at_once), WiringError, "processor 0 sends 2 messages in step 1"),
        (broken(schedule_rule=nobody_sends), WiringError, "own from 0 does not inform processor 1"),
        (broken(phases=(("short", 3),)), WiringError, "own from 0 does not inform processor"),
        (broken(schedule_rule=into_the_void), WiringError, "sends on port 2 in step 1, which is"),
        (broken(port=2), WiringError, "cycle ring leaves node 0 by port 2, which is not wired"),
        (
            NoOrder(),
            WiringError,
            r"cluster_order\(1, 0\) = 0, but cluster_order\(0, 1\) = 0, not 1",
        ),
        (
            OrderOutside(),
            WiringError,
            r"cluster_order\((1, 0\) = 3, but|4, 0\) = 12 is no position)",
        ),
    ],
)
def test_check_names_the_promise_that_is_broken(topology, error, sentence):
    with pytest.raises(error, match=sentence):
        mpinet.check(topology)


class Twice(Ring):
    """Its cycle's rule goes back and forth."""

    def cycle(self):
        return replace(ring_cycle(self.params), rule=to_and_fro)


@rule
def to_and_fro(node, way, params):
    return node % 2


def test_a_cycle_that_closes_early_is_refused():
    with pytest.raises(WiringError, match="returns to node 0 after 2 of 10 nodes"):
        mpinet.check(Twice())


@pytest.mark.parametrize("order", [NoOrder, OrderOutside])
def test_no_machine_hosts_processors_by_an_order_that_is_no_bijection(order):
    with pytest.raises(WiringError, match="cluster_order"):
        clustered(order())


class Parallel(Topology):
    """Two processors with two links, whose rule confuses these at one end."""

    def __init__(self):
        super().__init__("", size=2, ports=2)

    @rule
    def neighbor(node, port, params):
        return 1 - node

    @rule
    def reverse_port(node, port, params):
        return port if node == 0 else 1 - port

    @rule
    def channel(node, port, params):
        return 0


def test_the_way_back_of_the_way_back_is_the_way():
    with pytest.raises(
        WiringError, match=r"reverse_port\(0, 0\) = 0, but reverse_port\(1, 0\) = 1, not 0"
    ):
        mpinet.check(Parallel())


@pytest.mark.parametrize("name", ["ring:7", "torus:3x4", "complete:5", "fattree:2,3"])
def test_a_link_has_the_number_of_its_lower_end(name):
    topology = mpinet.open(name)
    for u in range(topology.size):
        for p in range(topology.ports):
            v = topology.neighbor(u, p)
            if v >= 0:
                q = topology.reverse_port(u, p)
                ends = sorted([(u, p), (v, q)])
                assert topology.channel(u, p) == ends[0][0] * topology.ports + ends[0][1]


def test_a_routing_may_not_answer_the_number_of_ports():
    @rule
    def one_too_many(node, header, params):
        return -1 if node == header[0] else params[1]

    topology = broken(decides=(one_too_many,))
    with pytest.raises(MpinetError, match="chose port 2 of node 0, which is not wired"):
        mpinet.check(topology)


def test_a_path_sends_forward_first_where_both_sides_are_as_long():
    for length in (3, 5, 9):
        middle = length // 2
        assert path_send(middle, middle, length, 1) == PLUS
        assert path_send(middle, middle, length, 2) == MINUS


@rule
def closer_alone(node, in_port, in_class, header, candidates, params):
    """The four ports of a torus in the escape's class: some lead away."""
    if node == header[0]:
        return -1
    for port in range(4):
        candidates[port, 0], candidates[port, 1] = port, 0
    return 4


@rule
def twice(node, in_port, in_class, header, candidates, params):
    """One channel, written down twice."""
    if node == header[0]:
        return -1
    candidates[:2, 0], candidates[:2, 1] = 0, 0
    return 2


@rule
def behind_the_last(node, header, candidates, credits, params):
    """No candidate."""
    return credits.size


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        ({"candidates": closer_alone, "escape": None}, "comes no closer: only classes of a"),
        ({"candidates": twice}, "each pair once"),
        ({"choose": behind_the_last}, r"where there are \d candidates"),
    ],
)
def test_an_adaptive_routing_that_breaks_its_word_is_refused(change, complaint, monkeypatch):
    torus = mpinet.open("torus:4x4")
    mpinet.check(torus)
    routing = replace(torus.load_routings["adaptive"](0), **change)
    monkeypatch.setattr(type(torus), "load_routings", {"adaptive": lambda seed: routing})
    with pytest.raises(RoutingError, match=complaint):
        mpinet.check(torus)
