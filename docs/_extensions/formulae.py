"""Closed forms of the families for the gallery: processors, degree, diameter.

A formula is a Python expression in the family's parameters, so a test can compare it with measured
values. The gallery typesets the same text. For SIDES, S is the tuple of sides.
"""

from __future__ import annotations

import re
from html import escape
from math import ceil, factorial, floor, log2, prod

from mpinet.report.ledger.formulas import typeset

FORMULAE: dict[str, tuple[str, str, str]] = {
    "ring": ("N", "2", "floor(N/2)"),
    "complete": ("N", "N - 1", "1"),
    "path": ("N", "min(2, N - 1)", "N - 1"),
    "star": ("N", "N - 1", "min(2, N - 1)"),
    "tree": ("(k**(h+1) - 1)/(k - 1)", "k + min(1, h - 1)", "2*h"),
    "mesh": ("prod(S)", "sum(min(2, s - 1) for s in S)", "sum(s - 1 for s in S)"),
    "torus": ("prod(S)", "sum(min(2, s - 1) for s in S)", "sum(s // 2 for s in S)"),
    "hypercube": ("2**n", "n", "n"),
    "ccc": ("n*2**n", "3", "6 if n == 3 else 2*n + floor(n/2) - 2"),
    "debruijn": ("2**n", "min(4, 2**n - 1)", "n"),
    "kautz": ("d**k + d**(k-1)", "2*d if k > 2 else 2*d - 1", ""),
    "shuffleexchange": ("2**n", "3", "2*n - 1"),
    "chordalring": ("N", "3", ""),
    "doubleloop": ("N", "4", ""),
    "rcirculant": ("N", "", ""),
    "circulant": ("N", "", ""),
    "randomregular": ("N", "d", ""),
    "fattree": ("m**h", "", "2*h"),
    "karytree": ("k**n", "", "2*n"),
    "dragonfly": ("p*a*(a*h + 1)", "p + a - 1 + h", "5"),
    "megafly": ("p*s*(s*h + 1)", "s + max(p, h)", "5"),
    "slimfly": ("2*q**2", "(3*q - (1 if q % 4 == 1 else -1))/2", "2"),
    "polarfly": ("q**2 + q + 1", "q + 1", "2"),
    "hyperx": ("prod(S)", "sum(s - 1 for s in S)", "len(S)"),
    "flatbutterfly": ("k**(n-1)", "(n-1)*(k-1)", "n - 1"),
    "butterfly": ("(n+1)*2**n", "4", "2*n"),
    "benes": ("(2*n+1)*2**n", "4", ""),
    "exchangedcube": ("2**(s+t+1)", "max(s, t) + 1", "s + t + 2"),
    "pancake": ("factorial(n)", "n - 1", ""),
    "bubblesort": ("factorial(n)", "n - 1", "n*(n-1)/2"),
    "lst": ("8*m", "4", ""),
    "tq": ("2**n", "n", "n - 1"),
    "cq": ("2**n", "n", "ceil((n+1)/2)"),
    "hkv": ("2**n", "n", "(n+1)/2"),
    "sth": ("m*2**(n+3)", "n + 4", ""),
    "hexcell": ("6*d**2", "3", ""),
    "foldedcube": ("2**n", "n + 1", "ceil(n/2)"),
    "hhc": ("2**(2**k + k)", "k + 1", "2**(k+1)"),
    "stargraph": ("factorial(n)", "n - 1", "floor(3*(n-1)/2)"),
    "arrangement": ("factorial(n)/factorial(n-k)", "k*(n-k)", "floor(3*k/2)"),
    "petersen": ("10", "3", "2"),
    "gpetersen": ("2*n", "3", ""),
    "hp": ("10*2**(n-3)", "n", "n - 1"),
    "fp": ("10**k", "3*k", "2*k"),
    "fpq": ("2**n*10**k", "n + 3*k", "n + 2*k"),
    "starcube": ("factorial(n)*2**m", "n - 1 + m", "floor(3*(n-1)/2) + m"),
    "hypermesh": ("r*c*2**n", "", "r + c - 2 + n"),
    "dualcube": ("2**(2*n-1)", "n", "2*n"),
    "clens": ("n*(p-1)**n", "", ""),
    "twistedtorus": ("prod(S)", "2*len(S)", "floor(len(S)*min(S)/2)"),
    "hammingmesh": ("a*b*x*y", "", "2*floor((a-1)/2) + 2*floor((b-1)/2) + 4"),
    "rail": ("boxes*gpus", "", ""),
    "dgx1": ("8", "", "2"),
    "dgxa100": ("8*n", "", ""),
    "dgxh100": ("8*n", "", ""),
    "mi250": ("16*n", "", ""),
    "bsn": ("2**n", "", ""),
    "gmn": ("N", "4", ""),
    "gmnany": ("N", "4", ""),
}
"""Number of processors, degree (links per node at most) and diameter of the processors. '' stands
for an unknown or long formula.
"""

IN_USE = {
    "dragonfly": "HPE Slingshot: Frontier, Aurora, El Capitan",
    "megafly": "Dragonfly+ of InfiniBand clusters, such as Leonardo",
    "karytree": "Fat trees of InfiniBand and Ethernet clusters",
    "fattree": "Fat trees of InfiniBand and Ethernet clusters",
    "torus": "Fugaku (six dimensions), TPU pods (three)",
    "twistedtorus": "TPU pods whose sides are unlike",
    "rail": "Clusters of GPUs",
    "dgxa100": "Boxes of eight A100",
    "dgxh100": "Boxes of eight H100",
    "mesh": "Networks on chips",
    "ring": "Networks on chips; rings of collectives among GPUs",
    "complete": "GPUs behind one level of switches; groups of a dragonfly",
}
"""Families of machines in use today, families of the largest machines first, with their uses."""

CONSTANT = (
    *("ring", "ccc", "debruijn", "shuffleexchange", "moebius", "chordalring", "doubleloop"),
    *("butterfly", "benes", "gmn", "gmnany", "lst", "hexcell", "petersen", "multistage", "lens"),
    *("clens", "plens", "snowflake", "busstar", "mesh", "torus", "circulant", "kautz", "fattree"),
    *(
        "path",
        "tree",
        "karytree",
        "randomregular",
        "bsn",
        "gbsn",
        "bh",
        "gpetersen",
        "twistedtorus",
    ),
)
"""Families with networks of any size at a constant degree (of busses: ports of given sizes)."""

ANY_SIZE = (
    "ring",
    "complete",
    "path",
    "star",
    "circulant",
    "gmnany",
    "mesh",
    "torus",
    "hyperx",
    "rcirculant",
)
"""Families with a network for every number of processors above a minimum."""

PLAIN = {
    "2*d if k > 2 else 2*d - 1": "2d (2d - 1 for k = 2)",
    "sum(min(2, s - 1) for s in S)": "at most 2 for each side",
    "sum(s - 1 for s in S)": "sum of (side - 1)",
    "sum(s // 2 for s in S)": "sum of floor(side/2)",
    "prod(S)": "product of the sides",
    "len(S)": "number of sides",
    "2*len(S)": "twice the number of sides",
    "floor(len(S)*min(S)/2)": "floor(number of sides · shortest/2)",
    "6 if n == 3 else 2*n + floor(n/2) - 2": "2n + floor(n/2) - 2 (6 for n = 3)",
    "min(4, 2**n - 1)": "4",
    "(3*q - (1 if q % 4 == 1 else -1))/2": "(3q ± 1)/2",
    "factorial(n)/factorial(n-k)": "n!/(n-k)!",
}
"""Formulas that are easier to read in words than as Python, with their words."""


def value(formula: str, parameters: dict[str, object]) -> float:
    """Return the value of a formula for the parameters of a network."""
    names = {"ceil": ceil, "floor": floor, "prod": prod, "factorial": factorial, "log2": log2}
    names |= {"max": max, "min": min, "sum": sum, "len": len}
    return eval(formula, {"__builtins__": {}, **names, **parameters})


def shown(formula: str) -> str:
    """Return a formula as HTML."""
    if formula in PLAIN:
        return escape(PLAIN[formula])
    text = re.sub(r"factorial\((\w+)\)", r"\1!", formula).replace("**", "^")
    set_ = typeset(text)
    plain = re.sub(r"\b([a-zA-Z])\b", r"<i>\1</i>", text)
    html = (plain if set_ == escape(text) else set_).replace("*", "·")
    return re.sub(r"(?<![\w<&/])a(?![\w>])", "<i>a</i>", html)  # a formula has no article "a"
