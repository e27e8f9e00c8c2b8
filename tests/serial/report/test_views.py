"""What shows a run at once: --draw, --play, --trace, and a result's draw()."""

import json
import re
from collections import Counter

import networkx
import numpy as np
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.report.drawing.moves import write_run
from mpinet.report.drawing.scene import scene, with_moves
from mpinet.report.recordings import read_recording


def test_a_run_is_drawn_played_and_traced_by_the_command_that_makes_it(tmp_path, capsys):
    files = {name: tmp_path / f"run.{name}" for name in ("svg", "html", "json")}
    typed = "broadcast hypercube:3 --draw {svg} --play {html} --trace {json}".format(**files)
    assert CommandSession(typed.split()).run() == 0
    assert "steps        3" in capsys.readouterr().out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["run.html", "run.json", "run.svg"]
    events = json.loads(files["json"].read_text())["traceEvents"]
    assert sum(event["ph"] == "X" for event in events) == 8 - 1  # each but the root is told once
    shown = re.search(r'id="scene">(.*?)</script>', files["html"].read_text())
    assert json.loads(shown[1])["moves"] == 8 - 1
    drawn = files["svg"].read_text()
    (lines,) = re.findall(r'<g id="LineCollection_3">(.*?)</g>', drawn, re.DOTALL)
    assert lines.count("<path") == 8 - 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--draw run.txt", "run.txt: a picture's file ends in .svg, .pdf, .png or .html."),
        ("--play run.svg", "run.svg: a page's name ends in .html."),
        ("--trace run.npz", "run.npz: a trace's name ends in .json, .trace, .paje or .csv."),
        ("--trace none/run.json", "Cannot write none/run.json: its folder does not exist"),
    ],
)
def test_a_file_that_cannot_be_made_is_refused_before_the_run(
    options, said, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    assert CommandSession(["flood", "ring:6", *options.split()]).run() == 2
    assert said in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_network_that_cannot_be_drawn_is_refused_before_the_run(capsys):
    assert CommandSession(["flood", "torus:4000x4000", "--draw", "run.svg"]).run() == 2
    assert "16,000,000 nodes" in capsys.readouterr().err


def test_links_are_coloured_by_the_busier_of_their_directions(tmp_path):
    file = tmp_path / "run.npz"
    mpinet.route("torus:4x4", pairs="transpose", record=file)
    moves, network = read_recording(file).moves, mpinet.open("torus:4x4")
    directed = Counter(zip(moves["sender"].tolist(), moves["receiver"].tolist(), strict=True))
    picture = with_moves(scene(network), network, moves)
    graph = networkx.grid_graph([4, 4], periodic=True)
    assert len(picture.links) == graph.number_of_edges()
    busier = [max(directed[u, v], directed[v, u]) for u, v in picture.links.tolist()]
    assert picture.loads.tolist() == busier
    assert np.sum(picture.loads) > 0


def test_a_bus_is_coloured_by_all_that_moved_over_it(tmp_path):
    file = tmp_path / "run.npz"
    mpinet.route("lens:3,2,2", pairs="permutation", record=file)
    network, moves = mpinet.open("lens:3,2,2"), read_recording(file).moves
    busses = Counter(
        int(network.channel(node, port))
        for node, port in zip(moves["sender"].tolist(), moves["port"].tolist(), strict=True)
    )
    picture = with_moves(scene(network), network, moves)
    wanted = [busses[bus - network.size] for bus in picture.links[:, 1].tolist()]
    assert picture.loads.tolist() == wanted


@pytest.mark.parametrize("name", ["hypercube:4", "dragonfly:2,4,2"])
def test_a_broadcast_is_coloured_by_the_steps_of_first_use_and_of_reception(name, tmp_path):
    file = tmp_path / "run.npz"
    mpinet.broadcast(name, record=file)
    moves, network = read_recording(file).moves, mpinet.open(name)
    first, received = {}, {}
    for step, u, v in zip(
        *(moves[one].tolist() for one in ("step", "sender", "receiver")), strict=True
    ):
        first[frozenset((u, v))] = min(step, first.get(frozenset((u, v)), step))
        received[v] = min(step, received.get(v, step))
    received[int(moves["sender"][0])] = 0
    write_run(tmp_path / "run.html", read_recording(file), network)
    page = (tmp_path / "run.html").read_text()
    shades = {0: {lightness("#0d0887")}}
    for u, v, stroke in re.findall(r'data-u="(\d+)" data-v="(\d+)" stroke="(#\w+)"', page):
        step = first.get(frozenset((int(u), int(v))), -1)
        shades.setdefault(step, set()).add(lightness(stroke))
    for node, fill in re.findall(r'data-n="(\d+)"[^>]* fill="(#\w+)"', page):
        shades.setdefault(received[int(node)], set()).add(lightness(fill))
    # One colour for each step, the lighter the later, and the lightest for unused links.
    (unused,) = shades.pop(-1)
    in_order = [shade for _, (shade,) in sorted(shades.items())]
    assert [*shades] and in_order == sorted(in_order) and in_order[-1] < unused
    assert sorted(shades) == list(range(max(received.values()) + 1))


def lightness(colour):
    red, green, blue = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_a_broadcasts_picture_has_a_colour_bar_of_steps(tmp_path):
    drawn = mpinet.broadcast("ring:6").draw()
    assert "step: link first used, node first informed" in drawn
    assert "messages over the link" in mpinet.route("ring:6", pairs="all").draw()


def test_a_result_is_drawn_from_python(tmp_path):
    found = mpinet.flood("ring:6", root=2)
    assert found.draw()._repr_svg_().startswith("<svg")
    found.draw(tmp_path / "run.html")
    assert "<svg" in (tmp_path / "run.html").read_text()
    with pytest.raises(UsageError, match="compare records no movements"):
        mpinet.compare(["ring:6"], only="degree").draw()
