"""Options of the closed loop: what they give together, and what is refused before the first run."""

import pytest

import mpinet
from mpinet.cli.session import CommandSession

SHORT = {"warmup": 20, "steps": 60}


def test_a_batch_is_measured_whole_and_needs_no_window():
    (curve,) = mpinet.load("mesh:3x3", rate="0.5,1", batch=4, phases=3, replies=2).curves
    for point in curve.points:
        assert point.delivered == point.generated == 2 * 9 * 4 * 3
        assert sum(point.phase_steps) == point.closed
        assert point.throughput == pytest.approx(9 * 4 * 3 * (1 + 2) / (9 * point.closed))
        assert not point.saturated
    assert curve.bound is None and curve.saturation_throughput is None


def test_phases_and_round_trips_are_told(capsys):
    words = "load mesh:2 --pattern neighbour --rate 1 --replies 2 --batch 1 --phases 2"
    assert CommandSession(words.split()).run() == 0
    # A hop and a flit there; a step later back, a hop and two flits: the last one in step 4.
    told = capsys.readouterr().out
    assert "mean round trip: 4 steps\n" in told and "steps of the phases: 5 + 5\n" in told


def test_a_batch_that_is_not_done_in_time_says_so():
    (curve,) = mpinet.load("mesh:3x3", rate=0.1, batch=40, phases=2, steps=9, limit=1).curves
    (point,) = curve.points
    assert point.saturated and point.phase_steps == [] and point.closed == 10


@pytest.mark.parametrize(("rate", "steps"), [(0.05, 50), (0.9, 20), (0.9, 200)])
def test_no_message_is_unfinished_that_was_never_generated(rate, steps):
    """With faults a run counts the fates of all messages: what never arrived is withdrawn or left.

    The link is dead in a step in which nothing has been generated yet.
    """
    more = {"batch": 20, "steps": steps, "limit": 0, "faults": "link:0-1@0-1"}
    (point,) = mpinet.load("ring:6", rate=rate, **more).curves[0].points
    assert point.unfinished == point.account.withdrawn[0] + point.account.left[0]
    assert point.generated == point.account.born[0]
    is_done = steps == 200
    assert (point.generated == 6 * 20) == is_done
    assert (point.saturated, point.phase_steps == []) == (not is_done, not is_done)


def test_few_outstanding_requests_keep_the_network_empty_and_sources_waiting():
    held, free = (
        mpinet.load("mesh:4x4", rate=0.1, replies=4, outstanding=k, **SHORT).curves[0].points[0]
        for k in (1, None)
    )
    assert held.node_flits_max <= free.node_flits_max
    assert held.latency_by_kind.round_trip.mean > free.latency_by_kind.round_trip.mean
    assert held.network_latency_mean < free.network_latency_mean


def test_latencies_of_two_lengths_add_up_and_older_digests_stay():
    from mpinet.report.envelope import digest

    found = mpinet.load("mesh:3x3", rate=0.1, flits="1:0.5,6:0.5", **SHORT)
    (point,) = found.curves[0].points
    short, long = point.latency_by_kind.short, point.latency_by_kind.long
    assert short.delivered + long.delivered == point.delivered
    assert short.sum + long.sum == point.latency_sum
    assert max(short.max, long.max) == point.latency_max and long.p50 >= short.p50 + 5
    older = found.value | {
        "curves": [
            {name: value for name, value in curve.items() if name != "vcs"}
            | {"points": [{k: v for k, v in p.items() if k != "latency_by_kind"}
                          for p in curve["points"]]}
            for curve in found.value["curves"]
        ]
    }  # fmt: skip
    assert found.digest == digest(older)


def test_energy_is_that_of_the_hops_of_all_flits():
    """Every message of two flits of a batch goes one hop: through two routers, over one link."""
    given = {"pattern": "neighbour", "rate": 1, "flits": 2, "batch": 3}
    found = mpinet.load("torus:3x3", energy="link:2.5,router:0.5,bits:8", **given)
    (point,) = found.curves[0].points
    hops = 2  # one in each dimension
    assert point.hops_mean == hops
    flits = 9 * 3 * 2
    assert point.energy == pytest.approx(8 * flits * (hops * 2.5 + (hops + 1) * 0.5))
    assert point.energy_per_bit == pytest.approx(hops * 2.5 + (hops + 1) * 0.5)
    plain = mpinet.load("torus:3x3", **given).value["curves"][0]["points"][0]
    names = ("energy", "energy_per_bit")
    assert {k: v for k, v in point.items() if k not in names} == plain


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("--energy bits:8", "bits per flit, link:E,router:E,bits:B"),
        ("--energy link:-1", "energies per bit (>= 0)"),
        ("--energy link:nan,bits:2", "energies per bit (>= 0)"),
        ("--energy wire:1", "bits per flit, link:E,router:E,bits:B"),
        ("--energy link:1,link:2", "bits per flit, link:E,router:E,bits:B"),
        ("--energy link:1,bits:0", "the bits per flit"),
        ("--outstanding 2", "--outstanding applies only with --replies"),
        ("--service 3", "--service applies only with --replies"),
        ("--phases 2", "--phases are phases of a batch: give --batch"),
        ("--replies 0", "--replies is a whole number >= 1, not 0"),
        ("--batch 0", "--batch is a whole number >= 1, not 0"),
        ("--replies 1 --outstanding 0", "--outstanding is a whole number >= 1, not 0"),
        ("--batch 2 --phases 0", "phases is a whole number 1..10000, not 0"),
        ("--batch 2 --until 2%", "Messages of --batch come to an end"),
        ("--replies 1 --outstanding 1 --faults node:1", "give --faults or --outstanding, not both"),
        ("--replies 9 --switching vct", "buffers of 4 flits are too small for messages of 9"),
        ("--batch 1 --buffers 0 --switching vct --policy fifo", "go with --buffers 1 or more"),
    ],
)
def test_options_of_the_closed_loop_that_make_no_sense_are_refused(words, said, capsys):
    assert CommandSession(["load", "mesh:3x3", "--rate", "0.1", *words.split()]).run() == 2
    assert said in capsys.readouterr().err
