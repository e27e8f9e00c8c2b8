"""The player's page shows the steps of a recording, in a real browser."""

import json
import re
from base64 import b64decode
from collections import Counter
from html import unescape

import networkx
import numpy as np
import pytest
from serial.report.browser import shown

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.report.layout import layout
from mpinet.report.player import page, write_page
from mpinet.report.player.places import places_of
from mpinet.report.player.scene import informed_at, known, scene, waits
from mpinet.report.recordings import read_recording
from mpinet.report.shapes import nearest


def recorded(folder, command):
    file = folder / "recording.npz"
    assert CommandSession([*command.split(), "--record", str(file), "--json"]).run() == 0
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


def asked(file, script, *options):
    """What a script finds in the page, which runs behind the page's own, as JSON."""
    text = file.read_text()
    again = file.with_name("asked.html")
    answer = "const answer = found => { document.body.dataset.found = JSON.stringify(found); };"
    again.write_text(text.replace("</body>", f"<script>{answer}{script}</script></body>"))
    found = shown(again, "", *options)
    if found is None:
        return None
    return json.loads(unescape(re.search(r'data-found="(.*?)"', found)[1]))


@pytest.mark.parametrize("command", ["broadcast gmn:4,32 --root 5", "flood fattree:2,3 --root 1"])
def test_who_is_informed_is_told_in_every_step(command, tmp_path):
    recording = recorded(tmp_path, command)
    moves, header = recording.moves, recording.header
    known, counts = {int(command.split()[-1])}, [1]
    for step in range(1, header["steps"] + 1):
        known |= set(moves["receiver"][moves["step"] == step].tolist())
        counts.append(sum(node < header["hosts"] for node in known))
    assert counts[-1] == header["hosts"]
    file = tmp_path / "page.html"
    write_page(file, recording)
    steps = f"[...Array({header['steps'] + 1}).keys()]"
    # there and back: who is informed is counted up and down
    found = asked(
        file,
        f"const said = step => (go(step), document.getElementById('known').textContent);"
        f"answer([{steps}.map(said), {steps}.reverse().map(said)])",
    )
    if found is not None:
        wanted = [f"{count} of {header['hosts']} informed" for count in counts]
        assert found == [wanted, wanted[::-1]]


@pytest.mark.parametrize(
    "command", ["route ring:6", "gossip ring:6", "broadcast ring:6 --record-steps 1..2"]
)
def test_what_does_not_begin_at_one_node_or_is_not_whole_informs_nobody(command, tmp_path):
    recording = recorded(tmp_path, command)
    assert informed_at(recording) is None
    assert not scene(recording)["informs"] and "not yet" not in page(recording)


@pytest.mark.parametrize(
    ("command", "places"),
    [("flood torus:32x32", 1024), ("flood hypercube:12", 4096), ("flood torus:70x71", 4970)],
)
def test_up_to_5000_nodes_stand_where_a_picture_has_them(command, places, tmp_path):
    told = scene(recorded(tmp_path, command))
    assert (told["nodes"], told["shown"], told["group"]) == (places, places, None)
    kind, text = told["x"]
    across = np.frombuffer(b64decode(text), f"<{kind}")
    assert np.allclose(across, layout(command.split()[1])[:, 0])


def test_a_larger_torus_is_a_smaller_torus_of_its_blocks(tmp_path):
    shown_as = places_of(mpinet.open("torus:100x90"), 9000, np.zeros((0, 2), int))
    sides = (34, 30)
    assert shown_as.points.shape == (sides[0] * sides[1], 2)
    assert shown_as.grid.name == "torus:34x30"
    at = np.array(np.unravel_index(np.arange(9000), (100, 90))) // 3
    assert np.array_equal(shown_as.groups, at[0] * sides[1] + at[1])


@pytest.mark.costly
@pytest.mark.parametrize(
    "name", ["hypercube:13", "mesh:6000", "torus:3x2000", "dragonfly:6,12,6", "debruijn:13",
             "ring:30000"]
)  # fmt: skip
def test_other_large_networks_are_shown_as_groups_at_places_of_their_own(name):
    network = mpinet.open(name)
    shown_as = places_of(network, network.size, np.zeros((0, 2), int))
    count = len(shown_as.points)
    assert 32 <= count <= 1024
    assert np.array_equal(np.unique(shown_as.groups), np.arange(count))
    assert nearest(shown_as.points) > 0


def test_a_network_that_is_not_known_is_laid_out_by_what_moved(tmp_path):
    recording = recorded(tmp_path, "flood mesh:4x6")
    moves = recording.moves
    moved = np.stack([moves["sender"], moves["receiver"]], axis=1)
    points = places_of(None, 24, moved).points
    graph = networkx.convert_node_labels_to_integers(networkx.grid_2d_graph(4, 6))
    hops = np.array(networkx.floyd_warshall_numpy(graph))
    plane = np.hypot(*(points[:, None] - points).transpose(2, 0, 1))
    assert np.corrcoef(plane.ravel(), hops.ravel())[0, 1] > 0.9


def test_more_nodes_than_can_be_seen_are_shown_as_groups(tmp_path):
    recording = recorded(tmp_path, "flood hypercube:13")
    told = scene(recording)
    assert (told["nodes"], told["shown"]) == (8192, 1024)
    file = tmp_path / "page.html"
    write_page(file, recording)
    assert "1024 groups of 8192 nodes" in file.read_text()
    said = in_browser(file, "step=3")
    if said is not None:
        assert said["moved so far"] == str((recording.moves["step"] <= 3).sum())


def test_playing_pauses_where_it_was_told_to_and_the_address_is_that_of_the_step(tmp_path):
    file, page_ = tmp_path / "run.npz", tmp_path / "page.html"
    assert CommandSession(["flood", "ring:30", "--record", str(file), "--json"]).run() == 0
    typed = ["play", str(file), "-o", str(page_), "--title", "A <flood>", "--pause-at", "9,4"]
    assert CommandSession([*typed, "--json"]).run() == 0
    assert "<title>A &lt;flood&gt;</title>" in page_.read_text()
    script = """const seen = []; let now = 0;
      for (let round = 0; round < 3; round++) {
        play();
        last = now;
        while (playing) tick(now += 50);
        seen.push([time, location.hash]);
      }
      answer(seen);"""
    found = asked(page_, script)
    if found is not None:
        assert found == [[step, f"#step={step}"] for step in (4, 9, 15)]


def test_a_pause_beyond_the_end_is_refused(tmp_path, capsys):
    file = tmp_path / "run.npz"
    assert CommandSession(["flood", "ring:6", "--record", str(file), "--json"]).run() == 0
    assert (
        CommandSession(["play", str(file), "-o", f"{tmp_path}/p.html", "--pause-at", "4"]).run()
        == 2
    )
    assert "--pause-at 4: the recording has steps 1..3." in capsys.readouterr().err
    assert not (tmp_path / "p.html").exists()


def test_buttons_keep_their_keys_and_the_page_has_the_others(tmp_path):
    file = tmp_path / "page.html"
    write_page(file, recorded(tmp_path, "flood ring:30"))
    script = """const pressed = (id, key) => {
        go(5);
        const event = new KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
        (id ? document.getElementById(id) : document.body).dispatchEvent(event);
        const found = [event.defaultPrevented, playing, Math.ceil(time)];
        pause();
        return found; };
      answer([["on", " "], ["loads", " "], ["slider", "ArrowLeft"], ["on", "ArrowLeft"],
            ["", "ArrowRight"], ["", " "], ["on", "End"]].map(each => pressed(...each)))"""
    found = asked(file, script)
    if found is not None:
        kept = [False, False, 5]
        assert found == [
            *(kept, kept, kept),
            *([True, False, 4], [True, False, 6], [True, True, 5], [True, False, 15]),
        ]


def test_who_wants_no_motion_sees_messages_stand_still(tmp_path):
    file = tmp_path / "page.html"
    write_page(file, recorded(tmp_path, "flood ring:30"))
    look = "const at = t => (frame(t), net.toDataURL()); answer(at(3.2) === at(3.7))"
    found = asked(file, look, "--force-prefers-reduced-motion")
    if found is not None:
        assert found is True and asked(file, look) is False


def test_every_canvas_has_a_text_and_the_step_is_said(tmp_path):
    file = tmp_path / "page.html"
    recording = recorded(tmp_path, "broadcast gmn:4,32")
    write_page(file, recording)
    for canvas in re.findall(r"<canvas[^>]*>", file.read_text()):
        assert ('role="img" aria-label="' in canvas) != ('aria-hidden="true"' in canvas)
    script = "go(3); const said = document.getElementById('said');"
    found = asked(file, script + "answer([said.textContent, said.getAttribute('aria-live')])")
    if found is not None:
        moving = int((recording.moves["step"] == 3).sum())
        assert f"step 3 of {recording.header['steps']}" in found[0] and found[1] == "polite"
        assert f"moving in this step: {moving}" in found[0] and "informed" in found[0]


def test_bars_and_diagram_have_one_axis(tmp_path):
    """What was drawn at a step stands below it: the leftmost and the rightmost pixel of a step."""
    file = tmp_path / "page.html"
    write_page(file, recorded(tmp_path, "route torus:8x8 --pairs random:900"))
    script = """go(8); const box = id => document.getElementById(id).getBoundingClientRect();
      const bar = course.getContext("2d").getImageData(0, course.height - 1, course.width, 1).data;
      const inked = [...Array(course.width).keys()].filter(i => bar[4 * i + 3]);
      const { begin, at } = view.axis;
      answer([box("time").left === box("course").left, box("time").width === box("course").width,
            inked[0] >= Math.floor(at(begin)), inked.at(-1) <= Math.ceil(at(view.axis.end))]);"""
    found = asked(file, script)
    if found is not None:
        assert all(found)


def test_the_title_has_the_pattern_and_the_hint_is_no_step(tmp_path):
    text = page(recorded(tmp_path, "route torus:4x4 --pairs transpose"))
    assert (
        "<h1>route transpose on torus:4x4</h1>" in text
        and "#step=7" not in text.split("<script")[0]
    )
    assert "<h1>broadcast on ring:6</h1>" in page(recorded(tmp_path, "broadcast ring:6"))
    pairs = ",".join(f"{k}-{k + 1}" for k in range(20))
    assert "<h1>route on ring:30</h1>" in page(recorded(tmp_path, f"route ring:30 --pairs {pairs}"))


@pytest.mark.parametrize("command", ["broadcast ring:6", "route torus:4x4 --pairs random:60"])
def test_the_legend_has_the_colours_of_messages_and_names_the_busiest_links_if_some_are(
    command, tmp_path
):
    file, recording = tmp_path / "page.html", recorded(tmp_path, command)
    write_page(file, recording)
    moves, steps = recording.moves, recording.header["steps"]
    colours = len({min(number % 8, number) for number in moves["message"].tolist()})
    script = f"""const seen = [];
      for (let step = 0; step <= {steps}; step++) {{
        frame(step);
        seen.push([element("used").hidden, element("busy").hidden]); }}
      answer([element("colours").children.length, seen])"""
    found = asked(file, script)
    if found is not None:
        wanted = []
        for step in range(steps + 1):
            until = moves["step"] <= step
            pairs = zip(moves["sender"][until], moves["receiver"][until], strict=True)
            counts = set(Counter(pairs).values())
            wanted.append([not counts, len(counts) < 2])
        assert found == [colours, wanted]


@pytest.mark.parametrize("name", ["torus:4x4", "torus:32x32"])
def test_messages_are_beside_the_circles_of_nodes(name, tmp_path):
    """The pixels of messages at the end of a step do not cover the centres of nodes."""
    file = tmp_path / "page.html"
    write_page(file, recorded(tmp_path, f"route {name} --pairs transpose"))
    script = """go(2); const pen = net.getContext("2d"), { px, py } = view;
      const at = (u, v) => pen.getImageData(Math.round(u), Math.round(v), 1, 1).data[3];
      const all = pen.getImageData(0, 0, net.width, net.height).data;
      answer([[...px].filter((_, k) => at(px[k], py[k]) > 128).length,
              all.filter((_, k) => k % 4 === 3).some(alpha => alpha > 200)])"""
    found = asked(file, script)
    if found is not None:
        assert found == [0, True]


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
