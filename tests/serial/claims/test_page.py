"""The ledger's page works in a real browser, and the terminal shows the same verdicts."""

import re
import shutil
import subprocess
import warnings
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import pytest

from mpinet.claims.ledger import Paper, PaperTable, claims_in
from mpinet.claims.verify import verify
from mpinet.machine.transport import Local
from mpinet.plain import plain
from mpinet.report.ledger import page as pages
from mpinet.report.ledger.terminal import ledger

OWN = str(Path(__file__).with_name("own.py"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")


@pytest.fixture(scope="module")
def verdicts():
    return verify(claims_in(OWN), "quick", Local())


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
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        warnings.warn("no browser: without chromium the page's script is not tested", stacklevel=2)
        return None
    quiet = "--headless --no-sandbox --disable-gpu --no-first-run --disable-background-networking"
    profile = f"--user-data-dir={file.parent / 'profile'}"
    command = [found, *quiet.split(), profile, "--dump-dom", f"{file.as_uri()}#{choice}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=50, check=True)
    return Rows(done.stdout)


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
    pages.write_page(file, verdicts, "quick")
    everything = Rows(file.read_text())
    assert set(everything.shown) == {row.id for row in verdicts}
    rows = in_browser(file, choice)
    if rows is not None:
        assert set(rows.shown) == expected
        assert rows.said.strip() == f"{len(expected)} of {len(verdicts)} claims"


def test_the_page_needs_no_other_file(verdicts):
    text = pages.page(verdicts, "quick")
    assert not re.findall(r'(?:src|href)="|url\(|@import|https?://', text)


def test_a_papers_table_marks_the_cells_that_differ(verdicts, monkeypatch):
    table = PaperTable("Table 1: diameters of rings", (("diameter", ("RING-TABLE",)),))
    monkeypatch.setattr(pages, "PAPERS", ("own",))
    monkeypatch.setattr(pages, "paper", lambda room: Paper(room, "Rings", (), (table,)))
    text = pages.page(verdicts, "quick")
    assert "<h3>Table 1: diameters of rings</h3>" in text
    assert '<td class="holds">2</td><td class="refuted"><del>3</del>2</td>' in text


def test_what_a_claim_says_cannot_break_the_page(verdicts):
    bad = replace(verdicts[0], statement="a <b> & </script>", id='X"><script>')
    text = pages.page([bad], "quick")
    assert "a &lt;b&gt; &amp; &lt;/script&gt;" in text
    assert text.count("<script>") == 1


def test_the_terminal_shows_verdicts_by_paper_and_colours_only_if_asked(verdicts):
    text = ledger(plain(verdicts))
    assert text.startswith("own: 8 claims: 2 hold, 2 refuted, 2 open, 2 failed\n")
    assert "$ mpinet verify RING-OFF --at n=5" in text
    assert "\x1b[" not in text
    assert "\x1b[31mrefuted\x1b[0m" in ledger(plain(verdicts), coloured=True)
