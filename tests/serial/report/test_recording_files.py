"""Recording files are read whole or refused; traces of them keep to their formats' rules."""

import csv
import io
import json
import zipfile
from collections import Counter, defaultdict

import numpy as np
import pytest

from mpinet.cli.session import CommandSession
from mpinet.errors import FileError
from mpinet.report.recordings import read_recording
from mpinet.report.traces import write_trace

ROUTED = "route torus:4x4 --pairs random:40"
RUN = "run mpinet.examples.oddeven:odd_even_sort --on ring:7"


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("recordings")
    for name, command in (("routed", ROUTED), ("run", RUN), ("told", "broadcast torus:4x4")):
        words = [*command.split(), "--record", str(folder / f"{name}.npz"), "--json"]
        assert CommandSession(words).run() == 0
    assert (
        CommandSession([*ROUTED.split(), "--record", str(folder / "routed.csv"), "--json"]).run()
        == 0
    )
    return folder


def test_numpy_alone_reads_a_recording(files):
    with np.load(files / "routed.npz", allow_pickle=False) as archive:
        header = json.loads(str(archive["header"]))
        assert (header["topology"], header["moves"]) == ("torus:4x4", len(archive["step"]))
        assert {archive[name].dtype for name in archive.files[1:]} == {np.dtype(np.int64)}


def test_both_forms_hold_the_same_movements(files):
    one, other = (read_recording(files / f"routed{ending}") for ending in (".npz", ".csv"))
    assert all(np.array_equal(one.moves[name], other.moves[name]) for name in one.moves)


def changed(files, folder, name, change):
    """A copy of a recording, one part of which has become another."""
    copy = folder / "copy.npz"
    with zipfile.ZipFile(files / "routed.npz") as old, zipfile.ZipFile(copy, "w") as new:
        for part in old.namelist():
            array = np.load(io.BytesIO(old.read(part)))
            text = io.BytesIO()
            np.save(text, change(array) if part == f"{name}.npy" else array)
            new.writestr(part, text.getvalue())
    return copy


def header_with(**values):
    return lambda array: np.array(json.dumps({**json.loads(str(array)), **values}))


WRONG = {
    "another version": ("header", header_with(version=2), "of version 2, but this mpinet reads"),
    "another file": ("header", header_with(format="else"), "not a complete recording"),
    "no numbers": ("header", header_with(nodes="many"), "lacks numbers"),
    "negative steps": ("header", header_with(steps=-1), "lacks numbers"),
    "more movements": ("header", header_with(moves=10**18), "memory"),
    "a sender that is none": ("sender", lambda array: array + 16, "impossible numbers"),
    "steps backwards": ("step", lambda array: array[::-1], "steps do not ascend"),
    "a short column": ("port", lambda array: array[:-1], "does not have"),
    "objects": ("message", lambda array: array.astype("f8"), "integers"),
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_recording_is_refused_in_one_sentence(what, files, tmp_path, capsys):
    name, change, said = WRONG[what]
    copy = changed(files, tmp_path, name, change)
    out = tmp_path / "page.html"
    out.write_text("before")
    assert CommandSession(["play", str(copy), "-o", str(out)]).run() == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert out.read_text() == "before"


@pytest.mark.parametrize("ending", ["npz", "csv"])
@pytest.mark.parametrize("part", [0, 0.3, 0.9])
def test_a_recording_that_is_cut_off_is_refused(ending, part, files, tmp_path):
    text = (files / f"routed.{ending}").read_bytes()
    cut = tmp_path / f"cut.{ending}"
    cut.write_bytes(text[: int(part * len(text))])
    with pytest.raises(FileError, match="not a complete recording"):
        read_recording(cut)


def test_a_flipped_bit_is_found(files, tmp_path):
    text, bad = (files / "routed.npz").read_bytes(), tmp_path / "bad.npz"
    whole, found, flips = read_recording(files / "routed.npz"), 0, range(0, len(text), 23)
    for place in flips:
        changed = bytearray(text)
        changed[place] ^= 16
        bad.write_bytes(changed)
        try:
            again = read_recording(bad)
        except FileError:
            found += 1
            continue
        assert again.header == whole.header  # the bit was one that nobody reads
        assert all(np.array_equal(again.moves[name], whole.moves[name]) for name in whole.moves)
    assert found > len(flips) / 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("play there.npz -o page.html", "Cannot read there.npz"),
        ("play there.txt -o page.html", "ends in .npz or .csv"),
        ("play there.npz -o page.txt", "ends in .html"),
        ("trace there.npz --as paje -o t.json", "a paje trace ends in .trace or .paje"),
        ("route ring:4 --record r.txt", "a recording's name ends in .npz or .csv"),
        ("route ring:4 --record r.npz --record-steps 3..2", "give A..B with 1 <= A <= B"),
        ("route ring:4 --record r.npz --record-nodes 1,x", "give numbers and ranges"),
        ("route ring:4 --record r.npz --record-nodes 1..4", "node 4 is not in 0..3"),
        ("route ring:4 --record-steps 1..2", "apply only with --record"),
        ("predict flood ring:4 --ranks 2 --record r.npz", "--record does not apply"),
        ("broadcast ring:4 --schedule --record r.npz --record-steps 1..2", "needs the whole run"),
    ],
)
def test_what_is_typed_wrong_gets_a_sentence(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert CommandSession(words.split()).run() == 2
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["routed", "run", "told"])
def test_a_perfetto_trace_keeps_to_the_trace_event_format(name, files, tmp_path):
    recording = read_recording(files / f"{name}.npz")
    write_trace(recording, "perfetto", tmp_path / "trace.json")
    events = json.loads((tmp_path / "trace.json").read_text())["traceEvents"]
    kinds = Counter(event["ph"] for event in events)
    assert kinds["X"] == recording.header["moves"] + recording.header["calls"]
    assert kinds["s"] == kinds["f"] > 0
    slices = defaultdict(list)
    for event in events:
        assert event["ph"] in "MXsf" and event["pid"] == 1
        if event["ph"] == "X":
            assert event["dur"] >= 0
            slices[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for track in slices.values():  # slices of a thread are in time, and nested or apart
        assert [begin for begin, _ in track] == sorted(begin for begin, _ in track)
        open_ = []
        for begin, end in track:
            while open_ and open_[-1] <= begin:
                open_.pop()
            assert not open_ or end <= open_[-1]
            open_.append(end)
    flows = defaultdict(dict)
    for event in events:
        if event["ph"] in "sf":
            within = [a <= event["ts"] <= b for a, b in slices[event["tid"]]]
            assert any(within)
            flows[event["id"]][event["ph"]] = event["ts"]
    assert all(flow["s"] < flow["f"] for flow in flows.values())


@pytest.mark.parametrize("name", ["routed", "run"])
def test_a_paje_trace_opens_and_closes_all_in_time(name, files, tmp_path):
    recording = read_recording(files / f"{name}.npz")
    write_trace(recording, "paje", tmp_path / "a.trace")
    lines = (tmp_path / "a.trace").read_text().splitlines()
    last = max(place for place, line in enumerate(lines) if line.startswith("%"))
    events = [line.split() for line in lines[last + 1 :]]
    times = [float(event[1]) for event in events if int(event[0]) > 2]
    assert times == sorted(times)
    counts = Counter(event[0] for event in events)
    assert counts["7"] == counts["8"] == recording.header["moves"]
    assert counts["5"] == counts["6"] == recording.header["calls"]
    depth, begun = Counter(), set()
    for event in events:
        if event[0] in "56":
            depth[event[3]] += 1 if event[0] == "5" else -1
            assert depth[event[3]] in (0, 1)
        if event[0] == "7":
            begun.add(event[-1])
        if event[0] == "8":
            begun.remove(event[-1])
    assert not begun


def test_a_table_has_a_line_for_every_movement_and_call(files, tmp_path):
    recording = read_recording(files / "run.npz")
    write_trace(recording, "csv", tmp_path / "a.csv")
    rows = list(csv.DictReader((tmp_path / "a.csv").open()))
    found = Counter(row["kind"] for row in rows)
    assert found == {"message": recording.header["moves"], "call": recording.header["calls"]}
    assert {row["call"] for row in rows} - {""} <= {"send", "receive", "exchange", "idle"}
