"""Messages of a mix's earlier patterns go before the others, on virtual channels of their own."""

import pytest
from mpi.machine.adaptive_reference import Grid, Straight, draw, play_all
from mpi.machine.openloop import open_loop
from mpi.machine.test_open_loop_checkpoints import relayed

import mpinet
from mpinet.draws import below
from mpinet.machine.faults import Faults, Passing
from mpinet.machine.traffic import run as runs
from mpinet.machine.traffic.results import results

SHARES, SEED = (0.3,), 7

DYING = [((0, 1), 20, 40), ((4,), 25, 50), ((5, 8), 45, None)]

SETTINGS = [
    ("torus:3x3", None, {"vcs": 4, "buffer": 2}),
    ("mesh:3x3", None, {"vcs": 4, "switching": "vct", "policy": "oldest", "size": 3}),
    ("mesh:3x3", None, {"vcs": 2, "policy": "islip", "iterations": 2, "crossbar": "all"}),
    ("torus:3x3", None, {"vcs": 4, "policy": "inputfirst", "router_delay": 1, "queue": 1}),
    ("torus:3x3", "adaptive", {"vcs": 6, "policy": "rotating", "delay": 2}),
    ("torus:3x3", None, {"vcs": 4, "passing": DYING}),
    ("mesh:3x3", None, {"vcs": 2, "switching": "vct", "size": 3, "passing": DYING, "delay": 2}),
    ("torus:3x3", None, {"vcs": 6, "shares": (0.1, 0.3), "buffer": 2, "passing": DYING}),
    ("mesh:3x3", "adaptive", {"vcs": 8, "shares": (0.2, 0.1, 0.3), "policy": "islip"}),
    ("mesh:3x3", None, {"vcs": 8, "shares": (0.1,) * 7, "switching": "vct", "policy": "fifo"}),
]
"""Networks of nine processors, routings (None: dimension order), and what differs.

Of `shares` each is that of a pattern of the mix, but for the last.
"""

USUAL = {"buffer": 4, "size": 2, "switching": "wormhole", "policy": "rotating", "rate": 0.4}
USUAL |= {"shares": SHARES}
WINDOW = {"warmup": 10, "measure": 60, "drain": 100}


def played(network, routing, s):
    """What plain Python makes of uniform messages, of which a share is of each priority."""
    size, s = 9, dict(s)
    length, rate, shares = s.pop("size"), s.pop("rate"), s.pop("shares")
    born = [(t, u) for t in range(170) for u in range(size) if draw(SEED, u, t, 16) < below(rate)]
    rows = [[t, u, draw(SEED, u, t, 17) * size >> 32, length] for t, u in born]
    edges = [below(sum(shares[: i + 1])) for i in range(len(shares))]
    rank_of = {(t, u): sum(draw(SEED, u, t, 23) >= edge for edge in edges) for t, u in born}
    grid = (Grid if routing else Straight)(network)
    return play_all(grid, rows, ranks=names(shares), rank_of=rank_of, **s, **WINDOW)[0]


def names(shares):
    """The names of the priorities."""
    return [*"urgent second third fourth fifth sixth seventh".split()[: len(shares)], "ordinary"]


def made(network, routing, s, mapping="blocks", **more):
    """The run of mpinet."""
    s, topology = dict(s), mpinet.open(network)
    mix = "+".join([*(f"uniform@{share}" for share in s.pop("shares")), "uniform"])
    faults = Faults(topology, passing=[Passing(*each) for each in s.pop("passing", ())])
    return open_loop(
        mapping=mapping, network=network, routing=topology.routing(routing), faults=faults,
        pattern=f"mix:{mix}", priority=True, seed=SEED,
        classes="own" if routing else None, **s, **WINDOW, **more,
    )  # fmt: skip


def agree(found, known):
    """Compare results, with what is told of each rank of messages."""
    for kind in list(found["rates_by_kind"]):
        latencies, rates = found["latency_by_kind"][kind], found["rates_by_kind"][kind]
        told = [latencies[name] for name in ("delivered", "sum", "p99")]
        assert (*told, rates["generated_flits"], rates["accepted_flits"]) == known.pop(kind)
    assert {name: found[name] for name in known} == known


@pytest.mark.parametrize("number", range(len(SETTINGS)))
def test_every_value_is_that_of_plain_python(number):
    network, routing, changes = SETTINGS[number]
    s = USUAL | changes
    known = played(network, routing, s)
    assert known["delivered"] > 40 and known["stuck_flits"] == 0
    assert "passing" not in changes or known["cut"]
    urgent, ordinary = known["urgent"], known["ordinary"]
    assert urgent[1] / urgent[0] < 0.8 * ordinary[1] / ordinary[0]
    agree(results(made(network, routing, s, ("blocks", "random")[number % 2]).run()), known)


@pytest.mark.parametrize("number", [3, 7])
def test_a_run_that_is_cut_ends_the_same(number, monkeypatch):
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    network, routing, changes = SETTINGS[number]
    s = USUAL | changes
    found = relayed((7, 33, 72), lambda ranks, mapping: made(
        network, routing, s, mapping, transport=ranks
    ))  # fmt: skip
    agree(found, played(network, routing, s))
