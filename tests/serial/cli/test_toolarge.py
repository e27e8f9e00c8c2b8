"""What a rank can neither hold nor walk is refused at once, in one sentence with both numbers."""

import re

import pytest

from mpinet.base import effort, memory
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.networks import routing


def refusal(command: str, capsys: pytest.CaptureFixture[str]) -> str:
    """The one line that a refused command prints."""
    assert CommandSession(command.split()).run() == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


@pytest.mark.parametrize(
    ("command", "looks"),
    [
        ("show lens:3,2,58", (2 * 2**58) * 4 - 8),
        ("show torus:4x2147483648", 2**33 * 4),
        ("flood roadrunner:3,255,3", 50329350 * 510),
        ("neighbors complete:1073741824 5", 2**30 - 1),
        ("show torus:4x2147483648 --distances", 2**33 // 512 * 2**33 * 4),
        ("measure hypercube:24 diameter", 2**24 // 512 * 2**24 * 24),
        ("measure torus:4x2147483648 distance_matrix", 2**33 // 512 * 2**33 * 4),
        ("measure torus:4x2147483648 edges", 2**33 * 4),
        ("measure hypercube:24 terminates", 2**24 * (2**24 - 1)),
    ],
)
def test_a_walk_that_would_not_end_is_refused_with_both_numbers(command, looks, capsys):
    told = refusal(command, capsys)
    needed, most = (int(n.replace(",", "")) for n in re.findall(r"(?<= )[\d,]{9,}", told))
    assert needed == looks > most


def test_a_path_that_nobody_would_read_is_refused(monkeypatch, capsys):
    monkeypatch.setattr(routing, "LONGEST_PATH", 2**12)
    told = refusal(f"path mesh:{2**40}x2 0 {2**41 - 1}", capsys)
    assert f"more than {2**12:,} hops from 0 to {2**41 - 1}" in told


def test_ranks_share_a_walk():
    effort.require_walk(2 * effort.LOOKS, "A ring", ranks=2)
    with pytest.raises(UsageError, match="limit for 2 ranks"):
        effort.require_walk(2 * effort.LOOKS + 1, "A ring", ranks=2)


def test_floods_that_do_not_fit_into_memory_are_refused(monkeypatch, capsys):
    monkeypatch.setattr(memory, "host_memory", lambda: 2**20)
    assert "A flood of ring:9000 from each" in refusal("show ring:9000 --distances", capsys)


@pytest.mark.parametrize(
    ("measure", "what"),
    [
        ("edges", "All links of"),
        ("connectivity", "A graph of"),
        ("vertex_transitive", "A graph of"),
        ("bisection_width", "All links of"),
        ("diameter", "A flood of"),
        ("distance_matrix", "A flood of"),
        ("profile_classes", "A flood of"),
        ("route_lengths pairs=transpose", "A walk over the routes of"),
    ],
)
def test_what_is_measured_of_a_whole_network_is_refused_where_it_does_not_fit(
    measure, what, monkeypatch, capsys
):
    """Before it begins, on however fast a host."""
    monkeypatch.setattr(memory, "host_memory", lambda: 2**20)
    told = refusal(f"measure hypercube:16 {measure}", capsys)
    assert told.startswith(f"mpinet: {what} hypercube:16")
    needed = memory.bytes_of(re.search(r"needs ([\d.]+ .iB) of memory or more", told)[1])
    assert needed > 2**16 * 16
    assert "there are 1.0 MiB here" in told


@pytest.mark.parametrize("collective", ["broadcast", "reduce"])
def test_an_export_that_does_not_fit_is_refused(collective, monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(memory, "host_memory", lambda: 2**20)
    told = refusal(f"schedule export {collective} hypercube:14 --out {tmp_path}/s.csv", capsys)
    assert f"A schedule of {collective} on hypercube:14 needs" in told


def test_a_matrix_of_distances_is_counted_beside_the_floods(monkeypatch, capsys):
    monkeypatch.setattr(memory, "host_memory", lambda: 3 * 10**7)
    told = refusal("measure ring:9000 distance_matrix", capsys)
    assert "A matrix of distances in ring:9000 needs 308.9 MiB" in told


def test_a_step_to_all_neighbours_is_refused_before_these_are_listed(monkeypatch, capsys):
    monkeypatch.setattr(memory, "host_memory", lambda: 23 * 9000)
    told = refusal("measure ring:9000 eccentricity node=0", capsys)
    assert "A step to all neighbours in ring:9000 needs" in told
