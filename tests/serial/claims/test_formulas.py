"""Formulas in statements are printed as such; what is no formula stays as it is."""

import re
from html import unescape
from xml.dom import minidom

import pytest

from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.report.ledger.formulas import typeset


def text_of(html):
    """What a reader sees, without blanks."""
    return re.sub(r"\s+", "", unescape(re.sub(r"<[^>]+>", "", html)))


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("floor(3n/2) hops", "⌊3<i>n</i>/2⌋ hops"),
        ("ceil((log_2 n + 1)/2)", "⌈(log<sub>2</sub> <i>n</i> + 1)/2⌉"),
        ("at sqrt(N/6) levels", "√(<i>N</i>/6)"),
        ("2^k nodes", "2<sup><i>k</i></sup> nodes"),
        ("s_1^(2^(k-1))", "<i>s</i><sub>1</sub><sup>2<sup><i>k</i>−1</sup></sup>"),
        ("2^ceil(lg m)", "2<sup>⌈lg <i>m</i>⌉</sup>"),
        ("N_id^2 links", "<i>N</i><sub><i>i</i></sub><i>d</i><sup>2</sup> links"),
        ("D_{i-1} of them", "<i>D</i><sub><i>i</i>−1</sub> of them"),
        ("of the degree d <= 3", "<i>d</i> ≤ 3"),
        ("m'_1/2 links", "<i>m</i>′<sub>1</sub>/2"),
        ("from v to v'", "<i>v</i> to <i>v</i>′"),
        ("(1 - 2^-b)/2", "(1 − 2<sup>−<i>b</i></sup>)/2"),
        ("GBSN(a,b) of a ring", "GBSN(<i>a</i>,<i>b</i>) of a ring"),
    ],
)
def test_formulas_are_typeset(text, piece):
    assert piece in typeset(text)


@pytest.mark.parametrize(
    "text",
    [
        "a ring of hosts",
        "the 2x3x5 torus, 99.97 percent",
        "-",
        "edges_sha256",
        "the network's links",
    ],
)
def test_words_and_names_stay_words(text):
    assert typeset(text) == text


def test_what_is_no_formula_is_escaped():
    assert typeset("A < B & </p>") == "A &lt; <i>B</i> &amp; &lt;/<i>p</i>&gt;"


def test_a_network_is_no_formula():
    assert typeset("at hdn:2x2,super=-/0.1 D = 12").startswith(
        "at <code>hdn:2x2,super=-/0.1</code> <i>D</i> = 12"
    )


LETTERS = str.maketrans({"−": "-", "′": "'", "·": "*", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->"})
SIGNS = re.compile(r"[\s^_{}()⌊⌋⌈⌉√]|floor|ceil|sqrt|<=|>=|!=|->")


@pytest.mark.parametrize("room", PAPERS)
def test_no_letter_of_a_statement_is_lost(room):
    for claim in claims_of(room):
        html = typeset(claim.statement)
        minidom.parseString(f"<p>{html}</p>".replace("&quot;", "'"))
        shown = text_of(html).translate(LETTERS)
        assert SIGNS.sub("", shown) == SIGNS.sub("", claim.statement)
