"""Replies and phases are what a second program says, on any ranks, also where a run is cut."""

from collections import Counter
from dataclasses import replace

import pytest
from mpi.machine.closedloop_reference import Mesh, Play
from mpi.machine.ranks import mapping_of
from mpi.machine.test_open_loop_checkpoints import every_step, relayed  # noqa: F401

import mpinet
from mpinet.errors import UsageError
from mpinet.machine.faults import Faults, Passing
from mpinet.machine.machine import Machine
from mpinet.machine.traffic.parameters import Buffering, Generation, Window
from mpinet.machine.traffic.results import results
from mpinet.machine.traffic.run import OpenLoop
from mpinet.networks.classes import no_classes
from mpinet.programs.patterns import pattern_of

PLAIN = {
    "vcs": 2, "buffers": 2, "policy": "rotating", "eject": "one", "rate": 0.2, "flits": 2,
    "reply": 0, "service": 1, "outstanding": 0, "batch": 0, "phases": 1,
    "warmup": 10, "steps": 40, "limit": 400, "seed": 5,
}  # fmt: skip

SETTINGS = [
    {"reply": 3},
    {"reply": 1, "service": 7, "outstanding": 1, "rate": 0.5, "policy": "oldest"},
    {"reply": 4, "outstanding": 2, "eject": "all", "vcs": 1, "rate": 0.4},
    {"batch": 5, "rate": 0.6},
    {"batch": 3, "phases": 4, "rate": 1.0, "policy": "oldest"},
    {"batch": 4, "phases": 2, "reply": 2, "outstanding": 1, "rate": 1.0, "service": 3},
    {"reply": 3, "rate": 0.9, "limit": 20},
    {"batch": 50, "rate": 1.0, "limit": 0, "reply": 1},
    {"reply": 3, "passing": [((1, 2), 12, 30), ((5,), 18, 40), ((6, 10), 25, None)]},
    {"reply": 4, "rate": 0.4, "service": 5, "dead": [0, (5, 9)], "passing": [((6,), 20, 21)]},
    {"batch": 5, "rate": 0.6, "phases": 4, "passing": [((5,), 4, 12), ((1, 2), 6, None)]},
    {
        "batch": 4, "phases": 3, "reply": 2, "rate": 1.0, "service": 3, "policy": "oldest",
        "passing": [((5,), 0, 9), ((6,), 14, None), ((2, 3), 20, 33), ((9,), 41, 60)],
    },
]  # fmt: skip


def open_loop(s, mapping="blocks", ranks=None, faults=None, **changes):
    topology = mpinet.open("mesh:3x4")
    pattern = pattern_of(topology, "uniform")
    machine = Machine(topology, transport=ranks, mapping=mapping_of(topology, mapping))
    generation = Generation(
        pattern.rule, pattern.params, s["rate"], s["flits"], reply_flits=s["reply"],
        service=s["service"], outstanding=s["outstanding"], batch=s["batch"], phases=s["phases"],
    )  # fmt: skip
    buffering = Buffering("wormhole", s["vcs"], s["buffers"], s["policy"], eject=s["eject"])
    window = Window(s["warmup"], s["steps"], s["limit"])
    if s["batch"]:
        window = Window(0, s["warmup"] + s["steps"] + s["limit"], 0)
    window = replace(window, interval=s.get("interval", 0))
    if "passing" in s:
        dead = [what for what in s.get("dead", ()) if isinstance(what, int)]
        links = [what for what in s.get("dead", ()) if not isinstance(what, int)]
        faults = Faults(topology, dead, links, [Passing(*each) for each in s["passing"]])
    return OpenLoop(
        machine, topology.routing(), no_classes(topology.params), buffering,
        replace(generation, **changes), window, s["seed"], faults,
    )  # fmt: skip


def told(found, known):
    """What mpinet's results say by the names of the reference."""
    same = {name: found[name] for name in known if name in found and name != "latencies"}
    kinds = {"": [found["latency_sum"], found["latency_max"], found["delivered"]]}
    for name, each in found.get("latency_by_kind", {}).items():
        kinds[name] = [each["sum"], each["max"], each["delivered"]]
    return same | {"latencies": kinds, "phase_steps": found.get("phase_steps", [])}


def expected(s):
    known = Play(Mesh(3, 4), **s).results()
    kinds = {n: [sum(v), max(v, default=0), len(v)] for n, v in known["latencies"].items()}
    return known | {"latencies": kinds}


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_replies_and_phases_are_those_of_a_second_program(number):
    s = PLAIN | SETTINGS[number]
    known = expected(s)
    for mapping in ("blocks", "random"):
        assert told(results(open_loop(s, mapping).run()), known) == known
    assert known["delivered"] > 30
    assert "account" not in known or (known["account"]["undeliverable"][0] and known["cut"])


@pytest.mark.parametrize(
    ("number", "cuts"),
    [(2, (9, 33, 52)), (5, (4, 19, 31)), (8, (12, 19, 30)), (11, (9, 14, 22))],
)
def test_a_closed_loop_that_is_cut_goes_on_to_the_same_results(number, cuts):
    s = PLAIN | SETTINGS[number]
    known = expected(s)
    found = relayed(cuts, lambda ranks, mapping: open_loop(s, mapping, ranks))
    assert told(found, known) == known


class Counted(Play):
    """Counts what is generated, accepted and carried by each channel, step by step."""

    def __init__(self, mesh, **s):
        self.carried, self.waiting = Counter(), {}
        super().__init__(mesh, **s)

    def leave(self, node, lane, out, vc, t):
        self.carried[t, node * self.mesh.ports + out] += out < self.mesh.ports
        return super().leave(node, lane, out, vc, t)

    def step(self):
        t, goes_on = self.now, super().step()
        lines = [m for each in (*self.queue, *self.replies) for m in each]
        heads = [slot[0] for each in self.slots for slot in each if slot and slot[1] == 0]
        self.waiting[t] = sum(m["flits"] for m in lines + heads)
        return goes_on

    def interval(self, begin, steps):
        within = range(begin, begin + steps)
        size, ports = self.mesh.size, self.mesh.ports
        loads = [sum(self.carried[t, c] for t in within) for c in range(size * ports)]
        done = [m["flits"] for m in self.messages if m["done"] in within]
        busiest = loads.index(max(loads))
        return {
            "begin": begin, "steps": steps, "loads": loads, "loads_sum": sum(loads),
            "generated_flits": sum(m["flits"] for m in self.messages if m["born"] in within),
            "accepted_flits": sum(done), "throughput": sum(done) / (size * steps),
            "backlog": self.waiting[begin + steps - 1], "loads_max": max(loads),
            "busiest": list(divmod(busiest, ports)),
        }  # fmt: skip


def test_intervals_have_what_a_second_program_counts_also_where_a_run_is_cut():
    s = PLAIN | {"rate": 0.5, "interval": 15}
    play = Counted(Mesh(3, 4), **s)
    known = [play.interval(10, 15), play.interval(25, 15), play.interval(40, 10)]
    for found in (
        results(open_loop(s, "random").run()),
        relayed((12, 30, 44), lambda ranks, mapping: open_loop(s, mapping, ranks)),
    ):
        told = [{n: each[n] for n in known[0]} for each in found["intervals"]]
        assert told == known
        assert found["intervals"][0]["offered"] == known[0]["generated_flits"] / (12 * 15)


def test_a_lone_request_and_its_reply_take_what_the_closed_form_says():
    """h hops there and back, F - 1 and R - 1 steps for the other flits, S steps of service."""
    found = mpinet.load(
        "mesh:2", pattern="neighbour", rate=1, flits=3, replies=5, service=9, outstanding=1,
        batch=1, vcs=2,
    )  # fmt: skip
    (point,) = found.curves[0].points
    kinds = point.latency_by_kind
    assert kinds.request.max == 1 + 3 - 1 and kinds.reply.max == 1 + 5 - 1
    assert kinds.round_trip.max == kinds.request.max + 9 + kinds.reply.max
    assert point.phase_steps == [kinds.round_trip.max + 1]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (
            {"rows": mpinet.open("mesh:3x4").params.reshape(1, -1)[:, :4]},
            "the steps of a trace are fixed",
        ),
        ({"service": 0}, "service is a whole number"),
        ({"phases": 0}, "phases is a whole number"),
    ],
)
def test_what_does_not_go_with_replies_is_refused(changes, said):
    with pytest.raises(UsageError, match=said):
        open_loop(PLAIN | {"reply": 1}, **changes)


def test_a_source_that_may_wait_for_ever_on_a_faulty_machine_is_refused():
    topology = mpinet.open("mesh:3x4")
    with pytest.raises(UsageError, match="give --faults or --outstanding, not both"):
        open_loop(PLAIN | {"reply": 1, "outstanding": 2}, faults=Faults(topology, [3]))
