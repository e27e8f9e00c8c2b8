"""Typesetting of formulas in sentences: what parses as one becomes MathML, all else stays text.

Statements are written for a terminal (``2^k D(B) - floor(n/2)``). A page shows the same letters
with their scripts, which browsers typeset by themselves: nothing is loaded.
"""

from __future__ import annotations

import re
from html import escape

TOKEN = re.compile(r"\d+(?:\.\d+)?(?!\.\d)|[A-Za-z]+|<=|>=|->|!=|\.\.|\s+|.", re.DOTALL)
ADDRESS = re.compile(r"^[(]?[a-z]+:\S")
"""A word that names a network, ``hdn:2x2,super=-/0``, which no formula is."""

RELATIONS = {
    "=": "=", "<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥", "!=": "≠", "->": "→", "..": "…",
}  # fmt: skip
SUMS = {"+": "+", "-": "−"}
PRODUCTS = {"*": "·", "/": "/"}
ENCLOSING = {"floor": ("⌊", "⌋"), "ceil": ("⌈", "⌉")}
BREAK = "\0"
"""Mark at which a line may break: before a relation or a sum's sign outside brackets."""

NAMES = ("SN", "BW", "CR", "LST", "TQ", "STH", "DLH", "mod", "log", "lg", "min", "max", "sum")
"""Names of more than one letter in formulas."""


def typeset(text: str) -> str:
    """Return a sentence as HTML, with its formulas in MathML."""
    return "".join(
        f"<code>{escape(part)}</code>" if ADDRESS.match(part) else _Sentence(part).html()
        for part in re.split(r"((?<!\S)[(]?[a-z]+:\S+)", text)
    )


class _Sentence:
    """Parser of a text without names of networks, from left to right."""

    def __init__(self, text: str):
        self._tokens: list[str] = TOKEN.findall(text)
        self._at = 0
        self._features = 0
        self._depth = 0

    def html(self) -> str:
        """Return the whole sentence as HTML."""
        found: list[str] = []
        while self._at < len(self._tokens):
            found.append(self._formula() or escape(self._take()))
        return "".join(found)

    def _formula(self) -> str:
        """Parse a formula that begins here; empty without one."""
        began = self._at
        if (began and self._tokens[began - 1][-1].isalnum()) or self._is_article():
            return ""
        self._features = 0
        found = self._relation()
        if found and self._features and not self._is_within_word():
            return f"<math>{found}</math>".replace(BREAK, "</math><wbr><math>")
        self._at = began
        return ""

    def _is_article(self) -> bool:
        """Whether an `a` here is an article."""
        if self._tokens[self._at] not in ("a", "A", "I"):
            return False
        after = "".join(self._tokens[self._at + 1 : self._at + 3]).strip()[:1]
        return after not in tuple("=<>^_+*/")

    def _is_within_word(self) -> bool:
        """Whether this place is inside a word."""
        after = self._peek()
        return after[:1].isalnum() or (after == "-" and self._peek(1)[:1].isalpha())

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at] if at < len(self._tokens) else ""

    def _take(self) -> str:
        self._at += 1
        return self._tokens[self._at - 1]

    def _skip(self) -> None:
        while self._peek().isspace():
            self._at += 1

    def _chain(self, signs: dict[str, str], part: str) -> str:
        """Parse as many parts as there are, with signs between them."""
        read = {"sum": self._sum, "product": self._product, "factor": self._factor}[part]
        found = read()
        while found:
            before = self._at, self._features
            self._skip()
            sign = signs.get(self._peek())
            if sign is None:
                self._at = before[0]
                break
            self._at += 1
            self._skip()
            more = read()
            if not more:
                self._at, self._features = before
                break
            self._features += 1
            may_break = part != "factor" and not self._depth
            found += (
                f'{BREAK}<mo form="infix">{sign}</mo>{more}'
                if may_break
                else (f"<mo>{sign}</mo>{more}")
            )
        return found

    def _relation(self) -> str:
        return self._chain(RELATIONS, "sum")

    def _sum(self) -> str:
        if self._peek() == "-" and self._peek(1).isalnum():
            self._at += 1
            found = self._chain(SUMS, "product")
            return f"<mo>−</mo>{found}" if found else ""
        return self._chain(SUMS, "product")

    def _product(self) -> str:
        """Parse factors with signs between them, or one behind the other: ``2^k D(B)``."""
        found = self._chain(PRODUCTS, "factor")
        while found:
            before = self._at, self._features
            self._skip()
            apart = self._at > before[0]
            if apart and not self._goes_on():
                self._at = before[0]
                break
            bracket = self._peek() == "("
            more = self._chain(PRODUCTS, "factor")
            if not more or (bracket and self._features == before[1]):
                self._at, self._features = before
                break
            found += more
        return found

    def _goes_on(self) -> bool:
        """Whether a factor may begin here, behind a blank."""
        token = self._peek()
        if token[:1].isdigit():
            return self._peek(1) == "^"
        return token == "(" or (self._is_name(token) and not self._is_article())

    def _factor(self) -> str:
        """Parse a number, a name or a bracket, with its scripts."""
        named = self._is_name(self._peek())
        base = self._base()
        primes = self._primes() if named and base else ""
        if primes:
            base = f"<mrow>{base}{primes}</mrow>"
        lower = self._script("_") if base else ""
        upper = self._script("^") if base else ""
        if lower and upper:
            return f"<msubsup>{base}{lower}{upper}</msubsup>"
        if lower or upper:
            tag = "msub" if lower else "msup"
            base = f"<{tag}>{base}{lower or upper}</{tag}>"
        return base + (self._arguments() if named else "") if base else ""

    def _primes(self) -> str:
        """Parse the primes of a name, as in ``m'``, unless they are a genitive's."""
        found = 0
        while self._peek(found) == "'":
            found += 1
        if not found or self._peek(found)[:1].isalpha():
            return ""
        self._at += found
        self._features += 1
        return "<mo>′</mo>" * found

    def _script(self, sign: str) -> str:
        """Parse a script behind ``^`` or ``_``."""
        if self._peek() != sign:
            return ""
        before = self._at, self._features
        self._at += 1
        minus = sign == "^" and self._peek() == "-"
        self._at += minus
        if self._peek() in ("{", "("):
            found = self._bracketed("}" if self._peek() == "{" else ")")
        else:
            found = self._base()
        if minus and found:
            found = f"<mo>−</mo>{found}"
        if not found:
            self._at, self._features = before
            return ""
        self._features += 1
        return f"<mrow>{found}</mrow>"

    def _base(self) -> str:
        token = self._peek()
        if token[:1].isdigit():
            return f"<mn>{self._take()}</mn>"
        if token in ENCLOSING or token == "sqrt":
            return self._enclosed(token)
        if self._is_name(token):
            self._at += 1
            if token == "log" and self._peek() == "2":
                self._at += 1
                self._features += 1
                return "<msub><mi>log</mi><mn>2</mn></msub>"
            return f"<mi>{token}</mi>"
        if token == "(":
            found = self._bracketed(")")
            return f"<mrow><mo>(</mo>{found}<mo>)</mo></mrow>" if found else ""
        return ""

    def _enclosed(self, function: str) -> str:
        """Parse ``floor(..)``, ``ceil(..)`` or ``sqrt(..)``."""
        before = self._at
        self._at += 1
        found = self._bracketed(")") if self._peek() == "(" else ""
        if not found:
            self._at = before
            return ""
        self._features += 1
        if function == "sqrt":
            return f"<msqrt>{found}</msqrt>"
        left, right = ENCLOSING[function]
        return f"<mrow><mo>{left}</mo>{found}<mo>{right}</mo></mrow>"

    def _arguments(self) -> str:
        """Parse a function's arguments, ``D(SN^i)``; empty without any."""
        if self._peek() != "(":
            return ""
        found = self._bracketed(")")
        return f"<mo>(</mo>{found}<mo>)</mo>" if found else ""

    def _bracketed(self, end: str) -> str:
        """Parse formulas with commas between them up to a closing bracket; else return nothing."""
        self._depth += 1
        found = self._listed(end)
        self._depth -= 1
        return found

    def _listed(self, end: str) -> str:
        """Parse for `_bracketed`; on failure go back, and return an empty text."""
        before = self._at, self._features
        self._at += 1
        parts = []
        while True:
            self._skip()
            part = self._relation()
            self._skip()
            if not part or self._peek() not in (end, ","):
                self._at, self._features = before
                return ""
            parts.append(part)
            if self._take() == end:
                return "<mo>,</mo>".join(parts)

    def _is_name(self, token: str) -> bool:
        return (len(token) == 1 and token.isascii() and token.isalpha()) or token in NAMES
