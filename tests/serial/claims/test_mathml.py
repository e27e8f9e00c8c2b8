"""Formulas in statements become MathML; what is no formula stays as it is."""

import re
from html import unescape
from xml.dom import minidom

import pytest

from mpinet.claims.ledger import PAPERS, claims_of
from mpinet.report.ledger.mathml import typeset


def text_of(html):
    """What a reader sees, without blanks."""
    return re.sub(r"\s+", "", unescape(re.sub(r"<[^>]+>", "", html)))


@pytest.mark.parametrize(
    ("text", "piece"),
    [
        ("floor(3n/2) hops", "<mo>⌊</mo>"),
        ("ceil((log2 n + 1)/2)", "<msub><mi>log</mi><mn>2</mn></msub>"),
        ("at sqrt(N/6) levels", "<msqrt>"),
        ("2^k nodes", "<msup><mn>2</mn><mrow><mi>k</mi></mrow></msup>"),
        ("D_{i-1} of them", "<msub><mi>D</mi><mrow><mi>i</mi><mo>−</mo><mn>1</mn></mrow></msub>"),
        ("of the degree d <= 3", '<mo form="infix">≤</mo>'),
        ("m'_1/2 links", "<msub><mrow><mi>m</mi><mo>′</mo></mrow><mrow><mn>1</mn></mrow></msub>"),
        ("from v to v'", "<math><mrow><mi>v</mi><mo>′</mo></mrow></math>"),
        ("(1 - 2^-b)/2", "<msup><mn>2</mn><mrow><mo>−</mo><mi>b</mi></mrow></msup>"),
    ],
)
def test_formulas_are_typeset(text, piece):
    assert piece in typeset(text)


@pytest.mark.parametrize(
    "text",
    [
        "a ring of n nodes",
        "one-port N-cube",
        "the 2x3x5 torus, 99.97 percent",
        "a < b & </p>",
        "-",
        "the u's links",
    ],
)
def test_words_and_names_stay_words(text):
    assert "<math>" not in typeset(text) or "<" in text
    assert text_of(typeset(text)) == text.replace(" ", "").replace("</p>", "</p>")


def test_a_network_is_no_formula():
    assert typeset("at hdn:2x2,super=-/0.1 D = 12").startswith(
        "at <code>hdn:2x2,super=-/0.1</code> <math>"
    )


def test_a_long_formula_may_be_broken_outside_brackets():
    assert typeset("a = b + (c + d)").count("<wbr>") == 2


LETTERS = str.maketrans(
    {"−": "-", "′": "'", "·": "*", "≤": "<=", "≥": ">=", "≠": "!=", "→": "->", "…": ".."}
)
SIGNS = re.compile(r"[\s^_{}()⌊⌋⌈⌉]|floor|ceil|sqrt|<=|>=|!=|->")


@pytest.mark.parametrize("room", PAPERS)
def test_no_letter_of_a_statement_is_lost(room):
    for claim in claims_of(room):
        html = typeset(claim.statement)
        minidom.parseString(f"<p>{html.replace('<wbr>', '')}</p>".replace("&quot;", "'"))
        shown = text_of(html).translate(LETTERS)
        assert SIGNS.sub("", shown) == SIGNS.sub("", claim.statement)
