"""The ledger's page works in a real browser, and the terminal shows the same verdicts."""

import re
import shutil
import subprocess
import warnings
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mpinet.base.plain import plain
from mpinet.claims.cause import SLIP, Cause
from mpinet.claims.ledger import claims_in
from mpinet.claims.paper import (
    ClaimColumn,
    ClaimCurve,
    MainFinding,
    MeasuredTable,
    Paper,
    PaperTable,
    Plot,
)
from mpinet.claims.summary import summary
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.report.envelope import envelope
from mpinet.report.ledger import page as pages
from mpinet.report.ledger.plot import drawn
from mpinet.report.ledger.terminal import ledger

OWN = str(Path(__file__).with_name("own.py"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def verdicts():
    kept = [replace(claim, kept=claim.id == "RING-OFF") for claim in claims_in(OWN)]
    return plain(verify(kept, "quick", Local()))


def documented(rows):
    """The document of a run that gave these rows."""
    command = ["mpinet", "verify", "own.py"]
    counted = summary(rows)
    return envelope(command, None, {}, 0, 1, rows, {"total": 1.0}, summary=counted)


class Rows(HTMLParser):
    """The claims that a page shows, and what it says beside the form."""

    def __init__(self, text):
        super().__init__()
        self.shown, self.said, self._in_output = [], "", False
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "tr" and "data-verdict" in given and "hidden" not in given:
            self.shown.append(given["id"])
        self._in_output = tag == "output"

    def handle_data(self, data):
        self.said += data if self._in_output else ""


def in_browser(file, choice):
    """The page as a browser has it when its script has run."""
    text = dumped(file, choice)
    return None if text is None else Rows(text)


def dumped(file, choice=""):
    """A file's text as a browser has it when its script has run; None without a browser."""
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        warnings.warn("no browser: without chromium the page's script is not tested", stacklevel=2)
        return None
    quiet = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    profile = f"--user-data-dir={file.parent / 'profile'}"
    command = [found, *quiet.split(), profile, "--dump-dom", f"{file.as_uri()}#{choice}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    return done.stdout


@pytest.mark.parametrize(
    ("choice", "expected"),
    [
        ("", {"RING-D", "RING-OFF", "RING-FAR", "RING-HUGE", "RING-EMPTY", "RING-BREAKS",
              "RING-TABLE", "RING-WORD"}),
        ("verdict=refuted", {"RING-OFF", "RING-TABLE"}),
        ("verdict=holds&verdict=open&words=huge", {"RING-FAR", "RING-HUGE"}),
        ("paper=none", set()),
    ],
)  # fmt: skip
def test_the_page_shows_the_chosen_claims(verdicts, tmp_path, choice, expected):
    file = tmp_path / "ledger.html"
    pages.write_page(file, documented(verdicts))
    everything = Rows(file.read_text())
    assert set(everything.shown) == {row["id"] for row in verdicts}
    rows = in_browser(file, choice)
    if rows is not None:
        assert set(rows.shown) == expected
        assert rows.said.strip() == f"{len(expected)} of {len(verdicts)} claims"


def test_the_page_needs_no_other_file(verdicts):
    text = pages.page(documented(verdicts))
    assert not re.findall(r'src="|url\(|@import|<link|https?://(?!doi\.org/)', text)
    anchors = set(re.findall(r' id="([^"]+)"', text))
    links = re.findall(r'href="#([^"]+)"', text)
    assert links and set(links) <= anchors


def test_a_papers_table_marks_the_cells_that_differ(verdicts, monkeypatch):
    table = PaperTable("Table 1: diameters of rings", (("diameter", ("RING-TABLE",)),))
    monkeypatch.setattr(pages, "ROOMS", ("own",))
    monkeypatch.setattr(pages, "paper", lambda room: Paper(room, "Rings", (), (table,)))
    text = pages.page(documented(verdicts))
    assert "<caption>Table 1: diameters of rings</caption>" in text
    assert '<td class="holds" title=""><a href="#RING-TABLE">2</a></td>' in text
    assert '<td class="refuted" title=""><del>3</del><a href="#RING-TABLE">2</a></td>' in text
    assert 'href="#table-own-1"' in text.partition('id="RING-TABLE"')[2]


def test_what_a_claim_says_cannot_break_the_page(verdicts):
    bad = verdicts[0] | {"statement": "a <b> & </script>", "id": 'X"><script>'}
    text = pages.page(documented([bad]))
    assert "a &lt;b&gt; &amp; &lt;/script&gt;" in text
    assert text.count("<script>") == 1


def test_the_terminal_shows_verdicts_by_paper_and_colours_only_if_asked(verdicts):
    text = ledger(verdicts)
    assert text.startswith("own: 8 claims: 2 hold, 2 refuted, 2 open, 2 failed\n")
    assert "$ mpinet verify RING-OFF --at n=5" in text
    assert "\x1b[" not in text
    assert "\x1b[31mrefuted\x1b[0m" in ledger(verdicts, coloured=True)


def test_the_terminal_tells_note_extent_and_a_witness_that_is_not_degenerate(verdicts):
    text = re.sub(r"\s+", " ", ledger([row for row in verdicts if row["id"] == "RING-OFF"]))
    assert "fails at 8 of 16 points (1 degenerate): just those where N is odd" in text
    assert "note: the slip is ours" in text
    assert "not degenerate: measured 3, claimed = 4 at n=7 source=0 target=3" in text
    assert "$ mpinet verify RING-OFF --at n=7" in text


def test_refutations_for_one_reason_are_one_error(verdicts):
    off = next(row for row in verdicts if row["id"] == "RING-OFF")
    again = [off, off | {"id": "AGAIN"}, off | {"id": "OTHER", "cause": ""}]
    found = summary([*again, verdicts[0] | {"measures": False}])["all"]
    assert (found["refuted"], found["errors"], found["formulas"]) == (3, 2, 1)
    assert "3 refuted (2 distinct errors)" in ledger(again)


RINGS = Paper(
    "own",
    "Rings",
    (),
    (MeasuredTable("Table 2", (ClaimColumn("D", "RING-OFF", {"4": "n=4", "5": "n=5"}),)),),
    causes={"rounding": Cause(SLIP, "N is rounded up: the diameter is floor(N/2)")},
    citation="A. Author: Rings.",
    doi="10.1/rings",
    plots=(Plot("diameters", "hops", (ClaimCurve("D", "RING-OFF"),), "claimed"),),
    findings=(
        MainFinding(3, "rings are short", "2 hops", "mpinet show ring:5", ("5",), ("RING-OFF",)),
    ),
)


@pytest.fixture
def of_paper(verdicts, monkeypatch):
    """The page where the claims are those of a paper that has all that a paper may have."""
    monkeypatch.setattr(pages, "ROOMS", ("own",))
    monkeypatch.setattr(pages, "paper", lambda room: RINGS)
    return pages.page(documented(verdicts))


def test_a_page_has_findings_errors_citation_measured_tables_and_plots(of_paper):
    assert '<a href="https://doi.org/10.1/rings">' in of_paper
    assert '<li value="3" id="finding-3">' in of_paper
    assert "mpinet show ring:5" in re.sub(r"</?span>", "", of_paper)
    error = of_paper.partition('id="error-own-rounding"')[2]
    assert "⌊<i>N</i>/2⌋" in error.partition("</li>")[0]
    assert '<td class="refuted" title="n=5"><del>3</del><a href="#RING-OFF">2</a></td>' in of_paper
    assert '<td class="holds" title="n=4"><a href="#RING-OFF">2</a></td>' in of_paper
    assert of_paper.count('class="curve0 measured above"') == 0
    assert of_paper.count("<circle") == len(range(4, 20))


def test_every_table_has_a_caption_and_its_headings_a_scope(of_paper):
    assert of_paper.count("<table") == of_paper.count("<caption>") >= 3
    assert "<th>" not in of_paper


MEASURING = """<!doctype html><body><iframe width="400" height="800" srcdoc="{page}"></iframe>
<script>
const frame = document.querySelector("iframe");
frame.onload = () => {{
  const page = frame.contentDocument, row = page.getElementById("RING-OFF");
  const own = [...row.querySelectorAll("td[data-label]")];
  const cells = own.map(cell => cell.getBoundingClientRect());
  const stacked = (cell, i) => i === 0 || cell.top >= cells[i - 1].bottom - 1;
  const labels = own.map(cell => frame.contentWindow.getComputedStyle(cell, "::before").content);
  document.body.dataset.width = page.documentElement.scrollWidth;
  document.body.dataset.right = Math.max(...cells.map(cell => cell.right));
  document.body.dataset.stacked = cells.every(stacked);
  document.body.dataset.labels = labels.join(" ").replaceAll('"', "");
}};
</script></body>"""


def test_a_phone_shows_a_claim_without_scrolling_sideways(of_paper, tmp_path):
    file = tmp_path / "phone.html"
    file.write_text(MEASURING.format(page=escape(of_paper)))
    text = dumped(file)
    if text is None:
        return
    seen = dict(re.findall(r'data-(\w+)="([^"]*)"', text.partition("<body")[2].partition(">")[0]))
    assert int(seen["width"]) <= 400 and float(seen["right"]) <= 400
    assert seen["stacked"] == "true"
    assert seen["labels"] == "statement measured claimed where"


def test_a_plot_that_too_few_points_make_is_told_of():
    plot = Plot("Figure 9: a curve", "steps", (ClaimCurve("a", "X-1"),))
    one = {"X-1": {"values": None}}
    assert "Figure 9: a curve: not drawn" in drawn(plot, one)
    assert drawn(plot, {}) == ""
