"""Pictures show what there is, are the same in every run, and are refused before they are begun."""

import re
import xml.etree.ElementTree as ElementTree
from collections import Counter
from itertools import pairwise

import networkx
import pytest

import mpinet
from mpinet.cli.session import CommandSession
from mpinet.errors import UsageError
from mpinet.measure import edges, incidences, walk
from mpinet.report.drawing import figure
from mpinet.report.drawing.page import drawing, page
from mpinet.report.drawing.scene import scene


def marks(text: str) -> list[dict[str, str]]:
    """The attributes of all that an SVG draws."""
    return [{"tag": one.tag.rpartition("}")[2], **one.attrib} for one in
            ElementTree.fromstring(text).iter()]  # fmt: skip


def lines(shown) -> list[tuple[int, int]]:
    return [(int(m["data-u"]), int(m["data-v"])) for m in marks(drawing(shown)) if "data-u" in m]


@pytest.mark.parametrize("name", ["torus:4x5", "fattree:2,3", "petersen", "gmn:8,256"])
def test_a_page_has_every_node_and_every_link_once(name):
    network, shown = mpinet.open(name), scene(name, label="address")
    assert sorted(lines(shown)) == list(map(tuple, edges(name).tolist()))
    drawn = [m for m in marks(drawing(shown)) if "data-n" in m]
    assert sorted(int(m["data-n"]) for m in drawn) == list(range(network.size))
    squares = {int(m["data-n"]) for m in drawn if m["tag"] == "rect"}
    assert squares == set(range(network.hosts, network.size))
    assert f"<title>1: {network.address(1)}</title>" in page(shown)


def test_a_bus_is_joined_to_its_members():
    shown = scene("snowflake:3,3")
    pairs = [(node, bus + 27) for node, bus in incidences("snowflake:3,3").tolist()]
    assert sorted(lines(shown)) == pairs and shown.busses == 17
    route = scene("snowflake:3,3", paths=[(0, 26)]).routes[0]
    assert route[::2] == walk("snowflake:3,3", 0, 26)
    assert {tuple(sorted(hop)) for hop in pairwise(route)} <= set(pairs)


def test_loads_are_those_of_the_routes_walked_one_by_one():
    shown = scene("mesh:3x4", load="all")
    hops = Counter(
        hop
        for u in range(12)
        for v in range(12)
        if u != v
        for hop in pairwise(walk("mesh:3x4", u, v))
    )
    expected = [max(hops[u, v], hops[v, u]) for u, v in shown.links.tolist()]
    assert shown.loads.tolist() == expected
    busiest = [m for m in marks(drawing(shown)) if m.get("data-load") == str(max(expected))]
    assert {m["stroke"] for m in busiest} == {figure.HEAT[-1]}


@pytest.mark.parametrize("ending", ["svg", "pdf", "png", "html"])
def test_a_file_has_the_same_bytes_in_every_run(ending, tmp_path):
    words = "draw hypercube:3 --path 0 7 --loads all --label number --no-progress".split()
    for name in ("a", "b"):
        assert CommandSession([*words, "-o", f"{tmp_path}/{name}.{ending}"]).run() == 0
    first, second = (tmp_path / f"{name}.{ending}" for name in "ab")
    assert first.read_bytes() == second.read_bytes()
    begins = {"svg": b"<?xml", "pdf": b"%PDF", "png": b"\x89PNG", "html": b"<!doctype html>"}
    assert first.read_bytes().startswith(begins[ending])


def test_python_and_the_command_line_draw_the_same(tmp_path, capsys):
    found = mpinet.draw("ring:8", output=tmp_path / "a.svg", path=[(0, 3), ("1", 7)])
    typed = f"draw ring:8 --path 0 3 --path 1 7 -o {tmp_path}/b.svg".split()
    assert CommandSession(typed).run() == 0
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert found.document()["command"][3:8] == ["--output", f"{tmp_path}/a.svg", "--path", "0", "3"]
    assert found.routes == [[0, 1, 2, 3], [1, 0, 7]]
    assert found._repr_html_().startswith("<svg") and "routes" in str(found)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("ring:8 -o old.bmp", "old.bmp: a picture's file ends in .svg, .pdf, .png or .html."),
        ("hypercube:24 -o old.svg", "hypercube:24 has 16,777,216 nodes"),
        ("complete:2000 -o old.svg", "shows at most 100,000 links"),
        ("torus:8x8 --routes all -o old.svg", "has 4,032 routes on torus:8x8"),
        ("ring:8 --size 99 -o old.svg", "0.5..50 inches, not 99.0"),
        ("ring:8 --path 0 9 -o old.svg", "Node 9 is not in ring:8"),
        ("fattree:2,2 --path 0 5 -o old.svg", "Node 5 of fattree:2,2 is a switch"),
        ("ring:8 --loads transpos -o old.svg", "transpos"),
        ("ring:8 --routing best -o old.svg", "has no routing 'best'"),
        ("ring:8", "needs a file for the picture: -o FILE.svg"),
        ("ring:8 -o nowhere/x.svg", "its folder does not exist"),
    ],
)
def test_what_cannot_be_drawn_gets_a_sentence_and_overwrites_nothing(
    typed, said, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    for name in ("old.svg", "old.bmp"):
        (tmp_path / name).write_text("old")
    assert CommandSession(["draw", *typed.split()]).run() == 2
    complained = capsys.readouterr().err
    assert said in complained and complained.count("\n") == 1
    assert {file.name: file.read_text() for file in tmp_path.iterdir()} == {
        "old.svg": "old",
        "old.bmp": "old",
    }


def test_without_matplotlib_a_sentence_says_what_to_install(monkeypatch, tmp_path):
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(figure, "import_module", missing)
    with pytest.raises(UsageError, match=re.escape('pip install "mpinet[plots]"')):
        mpinet.draw("ring:8", output=tmp_path / "x.svg")
    assert mpinet.draw("ring:8", output=tmp_path / "x.html").nodes == 8


def test_what_the_font_lacks_is_told_in_a_sentence(capsys, recwarn):
    from mpinet.report.drawing.figure import library, saved

    made = library("matplotlib.figure").Figure()
    made.text(0, 0, "tab\there, \u4e2d there")
    assert saved(lambda: made, "png").startswith(b"\x89PNG")
    said = capsys.readouterr().err
    assert said == "mpinet: boxes replace characters missing in the font: '\\t', '\\u4e2d'.\n"
    assert not recwarn.list


def test_the_drawing_librarys_own_warnings_do_not_reach_the_user(capsys, recwarn):
    from mpinet.report.drawing.figure import library, saved

    def made():
        drawn = library("matplotlib.figure").Figure()
        drawn.subplots().set_ylim(1, 1)  # the library warns of this
        return drawn

    with pytest.warns(UserWarning, match="identical"):
        made()
    recwarn.clear()
    assert saved(made, "svg").lstrip().startswith(b"<?xml")
    assert (capsys.readouterr().err, recwarn.list) == ("", [])


def test_a_link_that_closes_a_ring_and_a_route_over_it_are_drawn_as_two_stubs():
    shown = scene("torus:4x5", paths=[(0, 4)])
    drawn = marks(drawing(shown))
    stubs = {(int(m["data-u"]), int(m["data-v"])) for m in drawn if m.get("d", "").count("M") == 2
             and "data-u" in m}  # fmt: skip
    graph, grid = (networkx.grid_2d_graph(4, 5, periodic=closed) for closed in (True, False))
    closing = {frozenset(link) for link in graph.edges} - {frozenset(link) for link in grid.edges}
    assert stubs == {tuple(sorted(5 * i + j for i, j in link)) for link in closing}
    (route,) = [m for m in drawn if m.get("stroke-width") == "5"]
    assert shown.routes == [[0, 4]] and route["d"].count("M") == 2


def test_a_file_of_many_links_holds_them_as_pixels(tmp_path):
    sizes = {}
    for side in (12, 60):
        file = tmp_path / f"{side}.svg"
        mpinet.draw(f"torus:{side}x{side}", output=file)
        sizes[side] = file.read_text().count("<image")
        assert file.stat().st_size < 500_000
    assert sizes[12] == 0 and sizes[60] > 0


def test_labels_have_halos_and_are_whole(tmp_path):
    file = tmp_path / "h.svg"
    mpinet.draw("hypercube:4", label="address", output=file)
    assert "paint-order:stroke" in drawing(scene("ring:12", label="number"), 240)
    assert file.read_text().count("stroke: #ffffff; stroke-width: 2.2") >= 16


@pytest.mark.parametrize(("name", "groups"), [("dragonfly:3,6,3", 19), ("megafly:2,4,4", 17)])
def test_the_links_between_many_groups_are_faded_and_no_others(name, groups):
    shown = scene(mpinet.open(name))
    graph = networkx.Graph(shown.links[shown.kinds == 0].tolist())
    assert networkx.number_connected_components(graph) == groups
    assert sum(shown.kinds == 3) == groups * (groups - 1) // 2 == sum(shown.kinds != 0)
    assert not scene(mpinet.open("dragonfly:2,4,2")).kinds.any()
