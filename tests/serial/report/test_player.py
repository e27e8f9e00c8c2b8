"""The player's page shows the steps of a recording, in a real browser."""

import re
from collections import Counter

import numpy as np
from serial.report.browser import shown

from mpinet.cli.session import Session
from mpinet.report.player import page, write_page
from mpinet.report.player.scene import known, scene, waits
from mpinet.report.recordings import read_recording


def recorded(folder, command):
    file = folder / "recording.npz"
    assert Session([*command.split(), "--record", str(file), "--json"]).run() == 0
    return read_recording(file)


def in_browser(file, address):
    """What the page says of a step, as a browser has it when its script has run."""
    page = shown(file, f"#{address}")
    if page is None:
        return None
    said = dict(re.findall(r"<dt>(.*?)</dt><dd>(.*?)</dd>", page))
    return said | {"step": re.search(r'<output id="step">(.*?)</output>', page)[1]}


def expected(recording, step):
    """The same, counted row by row."""
    moves = recording.moves
    until = moves["step"] <= step
    pairs = zip(moves["sender"][until].tolist(), moves["receiver"][until].tolist(), strict=True)
    last, queue = {}, Counter()
    columns = (moves[name].tolist() for name in ("message", "step", "sender", "receiver"))
    for message, when, sender, receiver in zip(*columns, strict=True):
        _, arrived = last.get(message, (sender, 0))
        if arrived < step < when:
            queue[sender] += 1
        last[message] = receiver, when
    return {
        "moving in this step": str((moves["step"] == step).sum()),
        "moved so far": str(until.sum()),
        "waiting in this step": str(sum(queue.values())),
        "load": max(Counter(pairs).values()),
        "queue": max(queue.values(), default=0),
    }


def test_an_address_leads_to_its_step(tmp_path):
    recording = recorded(tmp_path, "route torus:5x5 --pairs random:200")
    file = tmp_path / "page.html"
    write_page(file, recording)
    said = in_browser(file, "step=4")
    if said is None:
        return
    wanted = expected(recording, 4)
    assert said["step"] == f"step 4 of {recording.header['steps']}"
    for name in ("moving in this step", "moved so far", "waiting in this step"):
        assert said[name] == wanted[name]
    assert said["busiest link so far"].endswith(f": {wanted['load']}")
    assert said["longest queue"].endswith(f": {wanted['queue']}")


def test_more_nodes_than_can_be_seen_are_shown_as_clusters(tmp_path):
    recording = recorded(tmp_path, "flood hypercube:11")
    shown = scene(recording)
    assert (shown["nodes"], shown["shown"]) == (2048, 256)
    file = tmp_path / "page.html"
    write_page(file, recording)
    assert "256 clusters of 2048 nodes" in file.read_text()
    said = in_browser(file, "step=3")
    if said is not None:
        assert said["moved so far"] == str((recording.moves["step"] <= 3).sum())


def test_messages_wait_where_they_do_not_move(tmp_path):
    recording = recorded(tmp_path, "route torus:4x4 --pairs random:60 --ports one")
    moves, steps = recording.moves, recording.header["steps"]
    node, begin, end = waits(recording)
    waited = int((end - begin).sum())
    last = {}
    columns = (moves["message"].tolist(), moves["step"].tolist())
    for message, step in zip(*columns, strict=True):
        last[message] = step
    assert waited == sum(last.values()) - len(moves["step"]) and waited > 0
    assert node.max() < 16 and end.max() <= steps


def test_the_page_needs_no_other_file(tmp_path):
    text = page(recorded(tmp_path, "broadcast ring:6"))
    assert not re.findall(r'(?:src|href)="|url\(|@import|https?://', text)


def test_a_recording_cannot_break_the_page_nor_open_files(tmp_path):
    recording = recorded(tmp_path, "broadcast ring:6")
    recording.header["topology"] = "</script><script>graph:/etc/passwd"
    text = page(recording)
    assert text.count("<script>") == 1 and "<script>graph" not in text
    assert known("graph:/etc/passwd", 6) is None
    assert known("file.py:Class:6", 6) is None
    assert known("ring:6", 7) is None
    assert np.array_equal(known("ring:6", 6).neighbor(0, [0, 1]), [1, 5])
