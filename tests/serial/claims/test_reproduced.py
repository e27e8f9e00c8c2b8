"""Tables and figures made again: cells, points and files are those of the claims' verdicts."""

import csv
import re
from dataclasses import asdict
from html.parser import HTMLParser

import networkx as nx
import pytest

import mpinet
from mpinet.claims.ledger import PAPERS, claims_of, paper
from mpinet.claims.paper import (
    ClaimColumn,
    ClaimCurve,
    MeasuredTable,
    Paper,
    PaperTable,
    Plot,
    item_name,
)
from mpinet.cli.session import CommandSession
from mpinet.report.ledger.cells import PublishedCell
from mpinet.report.ledger.reproduced import items_of, rows_of, text_of

TWO = {"claimed": {"D": 3, "L": 6}, "measured": {"D": 2, "L": 6}, "relation": "="}
BOUND = {"claimed": 4.25, "measured": 4.0, "relation": "<="}


def value(point, claimed, measured, holds, fields=()):
    return {"point": point, "claimed": claimed, "measured": measured, "holds": holds,
            "fields": list(fields)}  # fmt: skip


ROWS = {
    "A": {**TWO, "id": "A", "witness": {"where": {"fields": ["D"]}}, "values": None,
          "nondegenerate": None, "at": {"topology": "ring:5"}},
    "B": {**BOUND, "id": "B", "witness": None,
          "values": [value("topology=ring:8", 4.25, 4.0, True),
                     value("topology=ring:16", 8.25, 9.0, False),
                     value("topology=path:4", 1.0, 3.0, False)]},
    "C": {**TWO, "id": "C", "witness": None,
          "values": [value("", {"D": 5, "L": 1}, {"D": 5, "L": 2}, False, ["L"])]},
}  # fmt: skip

SHOWN = Paper(
    "own",
    "Rings",
    (),
    (
        PaperTable("Table 1. Rings", (("N=5", ("A",)),)),
        MeasuredTable("Table 2: bounds", (ClaimColumn("D", "B", {"16": "topology=ring:16"}),)),
    ),
    plots=(
        Plot(
            "Figure 1. Diameters",
            "hops",
            (
                ClaimCurve("ring", "B", of=lambda name: name.startswith("ring")),
                ClaimCurve("bound", "B", "claimed", of=lambda name: name.startswith("ring")),
                ClaimCurve("printed", "", "claimed", "L", {"C": 12}),
                ClaimCurve("of table 2", key="D", at={"C": 12}),
            ),
        ),
    ),
)


def rows_by_item():
    return {item.name: rows_of(item, ROWS) for item in items_of(SHOWN)}


def test_an_item_is_named_as_the_paper_numbers_it():
    titles = ("Table 5, measured on DLH", "Table I: sizes", "Figure 11. Average", "Cost ratio: ..")
    assert [*map(item_name, titles)] == ["table-5", "table-i", "figure-11", "cost-ratio"]


def test_a_cell_and_a_point_have_both_values_and_say_whether_they_agree():
    found = rows_by_item()
    assert list(found) == ["table-1", "table-2", "figure-1"]
    short = {
        name: [
            (row["row"], row["column"], row["printed"], row["measured"], row["agrees"])
            for row in rows
        ]
        for name, rows in found.items()
    }
    assert short["table-1"] == [("N=5", "D", 3, 2, False), ("N=5", "L", 6, 6, True)]
    assert short["table-2"] == [("16", "D", 8.25, 9.0, False)]
    assert short["figure-1"] == [
        (8, "ring", 4.25, 4.0, True),
        (16, "ring", 8.25, 9.0, False),
        (12, "of table 2", 5, 5, True),
        (12, "printed", 1, 2, False),
    ]


def test_the_text_has_what_is_printed_in_brackets_where_it_differs():
    found = rows_by_item()
    words = [line.split() for line in text_of(found["table-1"]).splitlines()]
    assert ["N=5", "2", "[3]", "6"] in words
    assert "9.00 [≤ 8.25]" in text_of(found["table-2"])


def test_a_cell_names_the_network_that_was_measured():
    found = rows_by_item()
    assert [row["network"] for row in found["table-1"]] == ["topology=ring:5"] * 2
    assert [row["network"] for row in found["table-2"]] == ["topology=ring:16"]
    lines = text_of(found["table-1"]).splitlines()
    assert lines[-2:] == ["measured on", "  N=5: ring:5"]
    assert "measured on" not in text_of(found["figure-1"])


def test_a_degenerate_witness_gives_way_to_one_that_is_not():
    fair = {"point": {"topology": "ring:7"}, "where": {"fields": ["L"]},
            "claimed": {"D": 3, "L": 8}, "measured": {"D": 3, "L": 7}}  # fmt: skip
    rows = {**ROWS, "A": {**ROWS["A"], "nondegenerate": fair}}
    cells = rows_of(items_of(SHOWN)[0], rows)
    assert [(row["printed"], row["measured"], row["agrees"]) for row in cells] == [
        (3, 3, True),
        (8, 7, False),
    ]
    assert {row["network"] for row in cells} == {"topology=ring:7"}


@pytest.mark.parametrize(
    ("printed", "measured", "form"),
    [
        (99.79, 99.796, "truncated"),
        (99.8, 99.796, "rounded"),
        (99.59, 99.594, "rounded"),
        (99.79, 99.81, ""),
        (40.22, 40.23, ""),
        (40.23, 40.23, "rounded"),
        (26, 26, ""),
        (26.5, "none", ""),
    ],
)
def test_printed_decimals_are_rounded_or_truncated_or_neither(printed, measured, form):
    cell = PublishedCell("row", "%", "A", "=", printed, measured, True, "")
    assert cell.form == form
    row = {**asdict(cell), "paper": "own", "item": "table-9", "title": "Table 9"}
    assert (f"[{printed} truncated]" in text_of([row])) == (form == "truncated")


class Anchors(HTMLParser):
    """The places that a page has, and those that its links lead to."""

    def __init__(self, text):
        super().__init__()
        self.places, self.links = set(), set()
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.places.add(given.get("id"))
        if given.get("href", "").startswith("#"):
            self.links.add(given["href"][1:])


@pytest.mark.parametrize("room", PAPERS)
def test_every_table_and_figure_is_made_of_claims_that_there_are(room):
    known = {claim.id for claim in claims_of(room)}
    items = items_of(paper(room))
    assert items and all(set(item.claims()) <= known and [*item.claims()] for item in items)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("reproduced")
    words = "reproduce lens figure-2 diameter --budget quick --pictures png --out"
    assert CommandSession([*words.split(), str(made)]).run() == 0
    return made


def test_the_folder_has_text_table_picture_and_a_page_whose_links_lead_somewhere(folder):
    names = {path.name for path in folder.iterdir()}
    assert names == {"lens-figure-2.txt", "lens-figure-2.csv", "lens-diameter.txt", "lens.html",
                     "lens-diameter.csv", "lens-diameter.png"}  # fmt: skip
    assert (folder / "lens-diameter.png").read_bytes().startswith(b"\x89PNG")
    page = (folder / "lens.html").read_text()
    anchors = Anchors(page)
    assert anchors.links and anchors.links <= anchors.places
    assert not re.findall(r'src="|url\(|@import|<link|https?://(?!doi\.org/)', page)


def test_the_points_of_a_figure_are_the_distances_of_networkx(folder):
    with open(folder / "lens-diameter.csv") as file:
        rows = [row for row in csv.DictReader(file) if row["column"] == "completed lens"]
    assert len(rows) >= 4
    for n, row in zip(range(2, 5), rows, strict=False):
        graph = mpinet.open(f"clens:3,{n}").to_networkx()
        assert float(row["row"]) == len(graph) == n * 2**n
        assert int(row["measured"]) == nx.diameter(graph)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ("reproduce sht", "did you mean sth"),
        ("reproduce all table-1", "leave out their names"),
        ("reproduce gmn table-9", "it has table-1, diameter"),
        ("reproduce gmn table-1 --out no/such/folder", "folder above it does not exist"),
        (f"reproduce gmn table-1 --out {'n' * 300}", "File name too long"),
    ],
)
def test_what_cannot_be_made_is_refused_in_a_sentence(words, sentence, capsys):
    assert CommandSession(words.split()).run() == 2
    said = capsys.readouterr().err
    assert re.search(sentence, said) and "Traceback" not in said
