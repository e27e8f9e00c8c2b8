"""A recording is what moved: a row a hop over a link, the same bytes for any number of ranks."""

import json
from collections import Counter, defaultdict
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import mpinet
from mpinet.cli.commands import parse
from mpinet.errors import TooLarge
from mpinet.jobs import module_of
from mpinet.machine import trace as traces
from mpinet.machine.transport import Local, world
from mpinet.report.recordings import read_recording

SCRIPT = Path(__file__).with_name("scripts") / "talk.py"

COUNTED = [
    "route torus:4x5 --pairs random:60 --seed 3 --ports one",
    "route torus:4x5 --pairs permutation --policy fifo",
    "route hypercube:4 --pairs all --mode ideal",
    "flood debruijn:5 --root 3",
    "broadcast torus:5x4 --root 7",
    "broadcast ccc:3 --algorithm tree",
    "gossip torus:3x4",
    "gossip ring:3*mesh:3x3 --ports all",
    "scatter ccc:3 --root 5",
    "gather mesh:3x4 --root 7",
    "exchange debruijn:4",
    "reduce hypercube:4 --operator sum",
    "circulate gbsn:2,m=4-4-4-4,a=1 --dimensions 3",
    "ascend hypercube:5 --operator fft",
    "run mpinet.examples.flood:flood --on torus:4x3",
]
UNCOUNTED = [
    "embed hypercube:4 torus:5x4",
    "descend torus:4x4 --operator bitonic-sort --algorithm routed",
    "gossip fattree:2,3",
    "broadcast lens:2,2,3",
]
"""On these, messages are transmissions that several hear, or are not in the result."""


def recorded(command: str, folder: Path, transport: Local, ending: str = "npz"):
    """The result of a command, run in this process, and where it was recorded."""
    file = folder / f"{transport.size}-{transport.rank}.{ending}"
    told = json.dumps(str(file)).encode()
    file = Path(json.loads(transport.share(told)))
    name, *words = command.split()
    options = parse([name, "--record", str(file), *words])
    job = module_of(options.command).prepare(options)
    result = job.run(transport, lambda *done: None)
    job.keep(transport)
    transport.sum(np.zeros(1))  # the file is there when rank 0 has come here
    return result, file


@pytest.mark.parametrize("command", [*COUNTED, *UNCOUNTED])
def test_a_row_is_a_hop_over_a_link_and_rows_are_as_many_as_messages(command, tmp_path):
    result, file = recorded(command, tmp_path, world())
    if world().rank:
        return
    recording = read_recording(file)
    topology, moves = mpinet.open(recording.header["topology"]), recording.moves
    arrived = topology.neighbor(moves["sender"], moves["port"])
    assert np.array_equal(arrived, moves["receiver"])
    rows = list(zip(*(moves[name].tolist() for name in moves), strict=True))
    keys = [(step, sender, port, message) for step, sender, port, _, message in rows]
    assert keys == sorted(keys) and len(rows) > 0
    if command in COUNTED:
        of_ascend = 2**5 * 5  # every processor sends in every dimension
        wanted = result.get("hops_total", result.get("messages", of_ascend))
        assert (len(rows), max(moves["step"])) == (wanted, result["steps"])
    one = " --ports one" in command or recording.header["model"].get("ports") == "one"
    if one:
        assert max(Counter(zip(moves["step"], moves["sender"], strict=True)).values()) == 1
    if command.startswith("route") and "ideal" not in command:
        assert max(Counter(row[:3] for row in rows).values()) == 1


@pytest.mark.parametrize("command", COUNTED[:3])
def test_the_hops_of_a_message_are_its_path(command, tmp_path):
    _, file = recorded(command, tmp_path, world())
    if world().rank:
        return
    moves = read_recording(file).moves
    hops = defaultdict(list)
    columns = (moves[name].tolist() for name in ("message", "step", "sender", "receiver"))
    for message, step, sender, receiver in zip(*columns, strict=True):
        hops[message].append((step, sender, receiver))
    for path in hops.values():
        for (step, _, here), (following, there, _) in pairwise(path):
            assert (here, step < following) == (there, True)


BYTES = [
    ("route torus:6x7 --pairs random:300 --seed 5 --ports one", "npz"),
    ("route torus:6x7 --pairs random:300 --policy fifo", "csv"),
    ("route hypercube:5 --pairs all --mode ideal", "npz"),
    ("broadcast fattree:2,3", "npz"),
    ("gossip torus:3x5 --record-steps 3..6 --record-nodes 0..4,9", "npz"),
    ("run mpinet.examples.oddeven:odd_even_sort --on ring:7", "npz"),
    (f"exec --on torus:3x4 --packet 64 {SCRIPT}", "npz"),
]


@pytest.mark.parametrize(("command", "ending"), BYTES)
def test_the_bytes_depend_neither_on_the_ranks_nor_on_the_mapping(command, ending, tmp_path):
    files = [
        recorded(mapped(command, mapping), tmp_path / mapping, transport, ending)[1]
        for mapping, transport in _settings(tmp_path)
    ]
    if world().rank == 0:
        assert len({sha256(file.read_bytes()).digest() for file in files}) == 1


def mapped(command: str, mapping: str) -> str:
    """The command with a mapping, before the words that belong to a script."""
    name, _, words = command.partition(" ")
    return f"{name} --mapping {mapping} {words}"


def _settings(folder):
    """Mappings and transports, with folders of their own."""
    settings = [("blocks", world()), ("random", world()), ("clusters", world())]
    for mapping, _ in settings:
        (folder / mapping).mkdir(exist_ok=True)
    if world().rank == 0:
        (folder / "alone").mkdir()
        yield "blocks", Local()
    yield from settings


def test_blocks_and_files_beside_change_no_byte(tmp_path, monkeypatch):
    command = "route hypercube:5 --pairs all"
    _, plain = recorded(command, tmp_path, world())
    before = plain.read_bytes() if world().rank == 0 else b""
    monkeypatch.setattr(traces, "KEPT", 16)
    monkeypatch.setattr(traces, "BLOCK", 50)
    _, file = recorded(command, tmp_path, world())
    assert world().rank or file.read_bytes() == before


def test_limits_leave_out_what_is_beyond_them(tmp_path):
    command = "route torus:4x5 --pairs random:60 --seed 3"
    _, file = recorded(command, tmp_path, world())
    whole = read_recording(file).moves if world().rank == 0 else None
    _, file = recorded(f"{command} --record-steps 2..3 --record-nodes 4..6,11", tmp_path, world())
    if world().rank:
        return
    chosen = {4, 5, 6, 11}
    rows = zip(*(whole[name].tolist() for name in whole), strict=True)
    expected = [row for row in rows if 2 <= row[0] <= 3 and {row[1], row[3]} & chosen]
    recording = read_recording(file)
    found = list(zip(*(recording.moves[name].tolist() for name in whole), strict=True))
    assert found == expected and 0 < len(found) < len(whole["step"])
    assert recording.header["recorded"] == {"steps": "2..3", "nodes": "4..6,11"}


def test_a_recording_that_would_be_too_large_is_refused_with_its_size(tmp_path, monkeypatch):
    monkeypatch.setattr(traces, "MOST", 50)
    with pytest.raises(TooLarge, match="at least 4032 movements and calls"):
        recorded("gossip hypercube:6", tmp_path, world())
    with pytest.raises(TooLarge, match="--record-steps"):  # known at the end alone
        recorded("embed hypercube:4 torus:4x4 --program ascend --operator fft", tmp_path, world())
    assert list(tmp_path.iterdir()) == []


def test_a_recorded_run_has_the_same_result(tmp_path):
    for command in ("descend hypercube:6 --operator bitonic-sort", "gossip ccc:3", "flood ccc:4"):
        options = parse(command.split())
        plain = module_of(options.command).prepare(options).run(world(), lambda *done: None)
        assert recorded(command, tmp_path, world())[0] == plain
