"""The page of a drawing tells who is joined to whom, fits a phone, and is seen in the dark."""

import json
import re
from html import escape, unescape
from pathlib import Path
from typing import Any

import networkx
import pytest
from serial.report.browser import DARK, shown

import mpinet
from mpinet.cli.session import CommandSession

NARROW = 400
"""Pixels of a phone's width; a browser's own window cannot be so narrow, a frame in it can."""

ASKED = """
<script>
const luminance = (colour) => {
  const parts = /^color\\(srgb/.test(colour) ? colour.match(/[0-9.]+/g).map((x) => 255 * x)
    : colour.match(/[0-9.]+/g).map(Number);
  return (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
};
function told(document, window) {
  const colour = (element, name) => luminance(window.getComputedStyle(element)[name]);
  const search = document.querySelector("input");
  search.value = "WORD";
  search.dispatchEvent(new window.Event("input"));
  const heat = document.querySelector(".heat");
  return {
    said: document.querySelector("output").textContent,
    lit: document.querySelectorAll(".links .lit").length,
    wide: document.documentElement.scrollWidth,
    window: window.innerWidth,
    side: document.querySelector("svg").getBoundingClientRect().width,
    ground: colour(document.body, "backgroundColor"),
    ink: colour(document.querySelector("h1"), "color"),
    node: colour(document.querySelector("[data-n]:not(.lit)"), "fill"),
    filter: heat ? window.getComputedStyle(heat).filter : "",
  };
}
</script>
"""


def asked(file: Path, word: str, *options: str) -> dict[str, Any] | None:
    """What a page of a phone's width says when a word is searched for, and how it looks."""
    page = file.read_text()
    frame = file.with_name("frame.html")
    frame.write_text(
        f"<!doctype html><body>{ASKED.replace('WORD', word)}"
        f'<iframe width="{NARROW}" height="700" style="border:0" onload="document.body.append('
        'JSON.stringify(told(this.contentDocument, this.contentWindow)))" '
        f'srcdoc="{escape(page)}"></iframe></body>'
    )
    found = shown(frame, "", *options)
    if found is None:
        return None
    said: dict[str, Any] = json.loads(unescape(re.search(r"\{\"said\".*\}", found)[0]))
    return said


@pytest.fixture
def loads(tmp_path: Path) -> Path:
    """A page with link loads."""
    file = tmp_path / "loads.html"
    words = ["draw", "torus:5x5", "--loads", "random:200", "-o", str(file), "--json"]
    assert CommandSession(words).run() == 0
    return file


def test_a_page_tells_the_neighbours_of_a_node_and_fits_a_phone(loads: Path) -> None:
    found = asked(loads, "7")
    if found is None:
        return
    graph = networkx.grid_2d_graph(5, 5, periodic=True)
    numbers = {x + 5 * y for x, y in graph[7 % 5, 7 // 5]}
    joined = found["said"].partition(" is joined to ")[2]
    assert {int(n) for n in re.findall(r"(\d+): [^(]*\(\d+ messages\)", joined)} == numbers
    assert found["lit"] == 4
    assert found["wide"] <= found["window"] == NARROW
    assert 0.9 * NARROW <= found["side"] <= NARROW
    assert found["ground"] > 0.9 and found["ink"] < 0.3 and found["filter"] == "none"


def test_a_page_is_seen_in_the_dark_with_busy_links_brighter_than_idle_ones(loads: Path) -> None:
    found = asked(loads, "7", DARK)
    if found is None:
        return
    assert found["ground"] < 0.1 and found["ink"] > 0.7 and found["node"] > 0.3
    assert re.match(r"invert\(0\.9\) hue-rotate\(180deg\)", found["filter"])


def test_a_page_without_loads_keeps_the_colours_of_its_links(tmp_path: Path) -> None:
    file = tmp_path / "plain.html"
    mpinet.draw("ring:6", output=file)
    assert 'class="links"' in file.read_text() and "data-load" not in file.read_text()
