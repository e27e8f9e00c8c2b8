"""Machines by name cost what their sources say, and options beside them win."""

from pathlib import Path

import networkx
import pytest

import mpinet
from mpinet.errors import UsageError
from mpinet.jobs.machines import MACHINES
from mpinet.machine.timed.program import Builder

DOCS = Path(__file__).parents[3] / "docs" / "reference" / "time.md"

LOGGP = {  # microseconds o, L, and MB/s of Martin et al. 1997
    "now": (2.9, 5.0, 38),
    "paragon": (1.8, 6.5, 141),
    "cs2": (1.7, 7.5, 47),
}


DGX = {  # TB/s of a GPU's NVLinks, both ways together, and Gbit/s of its NIC, by the data sheets
    "dgx-a100": (0.6, 200),
    "dgx-h100": (0.9, 400),
    "dgx-b200": (1.8, 400),
    "dgx-b300": (1.8, 800),
}


@pytest.mark.parametrize("name", DGX)
def test_gpus_exchange_bytes_at_the_rates_of_the_data_sheets(name):
    nvlink, nic = DGX[name]
    near = mpinet.replay("broadcast:linear,9GB,processors=2", machine=name)
    assert near.time == pytest.approx(9e9 / (nvlink / 2 * 1e12) * 1e15 + 3.4e9, rel=1e-3)
    far = mpinet.replay(_across(), machine=name)
    assert far.time == pytest.approx(9e9 / (nic / 8 * 1e9) * 1e15 + 14e9, rel=1e-3)


@pytest.mark.parametrize("name", LOGGP)
def test_a_message_takes_the_time_of_the_loggp_model(name):
    o, latency, rate = LOGGP[name]
    found = mpinet.replay("broadcast:linear,1001,processors=2", machine=name)
    assert found.time == pytest.approx((2 * o + latency + 1000 / rate) * 10**6, rel=1e-4)


def test_links_of_a_rack_and_of_a_dragonfly_have_their_latencies():
    # A GPU of the NVL72 rack reaches every other one at 900 GB/s, over two links of 1.7 us.
    rack = mpinet.replay("broadcast:linear,9GB,processors=72", machine="gb200-nvl72")
    assert rack.time == pytest.approx(71 * 10**15 * 9 / 900 + 3.4e9, rel=1e-3)
    group = mpinet.replay("broadcast:linear,1,processors=2", machine="slingshot")
    assert group.time == 2 * 363_000 + 40


def _across():
    program = Builder(64)
    program.send(0, 63, 9 * 10**9)
    program.recv(63, 0, 9 * 10**9)
    return program.done()


def test_options_and_edges_win_over_the_machine():
    one = {"machine": "loggopsim", "overhead": 7, "eager": 10**6}
    assert mpinet.replay("broadcast:linear,1,processors=2", **one).time == 2 * 7 + 2500
    graph = networkx.path_graph(2)
    graph.edges[0, 1].update(latency="30ns", time_byte="1ns")
    assert mpinet.replay("broadcast:linear,5", on=graph, machine="slingshot").time == 35_000
    on = {"on": graph, "machine": "slingshot"}
    assert mpinet.replay("broadcast:linear,5", latency="1us", **on).time == 1_005_000


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ({"machine": "cs3"}, "no 'cs3'; there are:\n  now .*\n(.*\n)*  cs2 .*1997"),
        (
            {"machine": "cs2", "on": "ring:4"},
            "has no latency of links: with --on also give --latency",
        ),
    ],
)
def test_what_no_machine_says_is_refused(words, sentence):
    with pytest.raises(UsageError, match=sentence):
        mpinet.replay("allreduce:ring,10,processors=4", **words)


@pytest.mark.filterwarnings("error")
def test_sizes_are_bytes_and_times_of_nothing_are_drawn(tmp_path):
    with pytest.raises(UsageError, match=r"^A number of bytes is 1 or more"):
        mpinet.tune("allreduce", on="ring:4", bytes=0)
    with pytest.raises(UsageError, match=r"^A number of bytes is 1 or more"):
        mpinet.replay("allreduce:ring,0", on="ring:4")
    # One processor is done at once: no axis is logarithmic, and nobody is warned.
    nothing = tmp_path / "nothing.svg"
    mpinet.tune("broadcast", on="complete:1", bytes="1,8", time_byte=0, plot=nothing)
    assert nothing.stat().st_size > 0


def test_every_machine_is_in_the_table_and_plays():
    text = DOCS.read_text(encoding="utf-8")
    for name in MACHINES:
        assert f"| `{name}` |" in text
        [row] = mpinet.tune("allreduce", machine=name, algorithms="ring", processors=4, bytes="1MB")
        assert row.lower_bound <= row.time
