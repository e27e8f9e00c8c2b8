"""What a run is said to need is what it takes: NumPy's arrays, counted as they are made."""

import gc
import re
import subprocess
import sys
import tracemalloc

import pytest

import mpinet
from mpinet.bench.footprint import PEAK
from mpinet.cli.commands import parse
from mpinet.jobs import module_of
from mpinet.jobs.machinejob import MachineJob
from mpinet.machine.transport import Local
from mpinet.programs import needs
from mpinet.programs.needs import LargestShare


def job_of(typed: str) -> MachineJob:
    """The job of a command line."""
    options = parse(typed.split())
    return module_of(options.command).prepare(options)


def taken(typed: str) -> int:
    """Most bytes that a run holds at once beyond what is there before, compiled code aside."""
    ranks, job = Local(), job_of(typed)
    job_of(typed).run(ranks, lambda *done: None)
    gc.collect()
    tracemalloc.start(1)
    try:
        before, _ = tracemalloc.get_traced_memory()
        job.run(ranks, lambda *done: None)
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


RUNS = [
    "flood hypercube:14",
    "flood torus:64x64",
    "broadcast hypercube:14",
    "broadcast hypercube:14 --algorithm tree",
    "broadcast torus:64x64 --algorithm passes",
    "broadcast hyperx:32x32 --algorithm passes",
    "reduce hypercube:14",
    "reduce torus:64x64",
    "gather hypercube:12",
    "scatter torus:32x32",
    "gather hyperx:8x8x30 --ports all",
    "ascend hypercube:15 --operator fft",
    "gossip ring:2000",
    "broadcast torus:16x16 --items 256",
    "allreduce ring:100 --items 200",
    "allreduce torus:24x24 --ports all",
    "allreduce hypercube:9",
    "allreduce mesh:24x24",
    "allreduce complete:64",
    "allreduce torus:16x16 --items 3 --algorithm dimensions",
    "gossip mesh:15x15 --algorithm tree",
    "gossip torus:16x16 --algorithm routed",
    "gossip mesh:30x30 --algorithm rarest --ports all",
    "circulate hypercube:12 --dimensions 2",
    "ascend debruijn:12 --operator sum",
    "embed torus:32x32 hypercube:10",
    "load hypercube:8 --rate 0.2 --warmup 20 --steps 20",
]
"""At sizes where arrays take more than the objects around them."""


@pytest.mark.costly
@pytest.mark.parametrize("typed", RUNS)
def test_a_run_takes_what_it_is_said_to_need(typed: str) -> None:
    assert job_of(typed).needs(1) == pytest.approx(taken(typed), rel=0.2)


@pytest.mark.parametrize("typed", ["route torus:64x64", "exchange hypercube:6"])
def test_what_has_room_to_grow_takes_no_less_than_it_is_said_to_need(typed: str) -> None:
    """Rows that nobody writes are counted as they are made, but take no memory."""
    assert 0.8 * job_of(typed).needs(1) <= taken(typed)


@pytest.mark.parametrize(
    "typed",
    [
        "flood torus:64x64",
        "broadcast torus:64x64",
        "reduce torus:512x512",
        "route torus:64x64 --pairs all",
        "exchange torus:8x8",
        "gossip ring:100",
        "ascend hypercube:12 --operator sum",
        "circulate hypercube:12 --dimensions 2",
        "embed torus:64x64 torus:64x64",
        "run mpinet.examples.flood:flood --on torus:64x64",
        "exec --on torus:64x64 -c pass",
        "load torus:512x512",
        "show torus:64x64 --distances",
    ],
)
def test_two_ranks_need_half_of_it_each_where_little_crosses(typed: str) -> None:
    job = job_of(typed)
    assert job.needs(1) / 2 <= job.needs(2) + 1 <= 1.06 * job.needs(1) / 2


@pytest.mark.parametrize("command", ["flood", "broadcast", "reduce"])
def test_ranks_need_more_than_their_part_where_messages_cross(command: str) -> None:
    """Half of the processors send over a link to the other rank at once: all of one rank's."""
    job = job_of(f"{command} hypercube:14")
    assert job.needs(2) > 1.2 * job.needs(1) / 2


def test_ports_to_other_ranks_are_counted() -> None:
    cube = job_of("route hypercube:10").network
    assert [LargestShare(cube, ranks, 2**10 // ranks).crossing for ranks in (1, 2, 8)] == [0, 1, 3]
    assert LargestShare(cube, 4, 2**8, scattered=True).crossing == pytest.approx(7.5)
    torus = job_of("route torus:64x64").network
    assert LargestShare(torus, 2, 2**11).crossing == pytest.approx(2 * 64 / 2**11, rel=0.1)
    assert LargestShare(torus, 2, 2**11).crossed < 0.1


def test_what_every_rank_has_of_the_whole_network_is_not_shared() -> None:
    """The numbers that a Fourier transform is compared with; a broadcast's timetable."""
    fourier = job_of("ascend hypercube:12 --operator fft")
    assert fourier.needs(2**12) >= 2**12 * 16
    passes = job_of("broadcast torus:64x64 --algorithm passes")
    assert passes.needs(64) == passes.needs(8) > passes.needs(1) / 2


def test_messages_and_loads_are_counted_one_by_one() -> None:
    share = LargestShare.even(job_of("route hypercube:10").network, 1)
    few = needs.route(share, messages=1000, words=1, drawn=True, metered=False)
    more = needs.route(share, messages=2000, words=3, drawn=True, metered=False)
    assert more - few == 1000 * (3 * 8 + 4) + 2000 * 2 * 8
    metered = needs.route(share, messages=1000, words=1, drawn=True, metered=True)
    assert metered - few >= 4 * share.network.most_wired


def test_the_longest_block_of_a_mapping_counts() -> None:
    """Ranks of G(4,24) host whole cliques of 4: of 5 ranks some have two."""
    even, uneven = (
        job_of(f"flood gmn:4,24 --mapping {mapping}").share(5).hosted
        for mapping in ("blocks", "clusters")
    )
    assert (even, uneven) == (5, 8)


def peak_of(typed: str) -> int:
    """Most bytes that a process of its own has had in memory, running a command."""
    done = subprocess.run(
        [sys.executable, "-m", "mpinet.bench.footprint", *typed.split()],
        capture_output=True,
        text=True,
        check=True,
    )
    return int(re.findall(f"{PEAK} (\\d+)", done.stdout)[-1])


MEASURED = [
    ("flood torus:2048x{}", 1024, 4096),
    ("broadcast hypercube:{}", 19, 21),
    ("broadcast hypercube:{} --algorithm tree", 18, 20),
    ("reduce hypercube:{}", 18, 20),
    ("scatter hypercube:{}", 17, 19),
    ("gather hypercube:{}", 17, 19),
    ("ascend hypercube:{} --operator sum", 19, 21),
    ("ascend hypercube:{} --operator fft", 18, 20),
    ("route hypercube:{}", 18, 20),
    ("route hypercube:{} --no-loads", 19, 21),
    ("route hypercube:16 --pairs random:{} --no-loads", 1000000, 3000000),
    ("load torus:256x{} --rate 0.05 --steps 5 --warmup 1 --limit 20", 256, 1024),
    ("exchange ring:{}", 500, 1000),
]
"""Commands with two sizes, whose difference is all that grows."""


@pytest.mark.long
@pytest.mark.parametrize(("typed", "small", "large"), MEASURED)
def test_what_a_run_is_said_to_need_is_what_its_process_takes(
    typed: str, small: int, large: int
) -> None:
    peak_of(typed.format(small))  # whatever has to be compiled
    grown = peak_of(typed.format(large)) - peak_of(typed.format(small))
    said = job_of(typed.format(large)).needs(1) - job_of(typed.format(small)).needs(1)
    assert said == pytest.approx(grown, rel=0.2)


def test_the_crossing_of_a_network_of_many_ports_is_told_by_some_of_them():
    share = LargestShare.even(mpinet.open(f"complete:{2**30}"), 8)
    assert share.crossing == pytest.approx(2**30 * 7 / 8, rel=0.01)
