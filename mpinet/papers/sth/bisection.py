"""Table 1 and lemma 5: bisection widths.

A width is exact, or refuted by a cut narrower than the paper's value or by a lower bound above this
value. If the value is between the bounds, the claim stays open.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mpinet import measure
from mpinet.claims import Claim, Corrected, Measured, claim
from mpinet.papers.grids import networks, numbers, of, up_to
from mpinet.papers.sth.grids import VALID, factors, family, sth, sths
from mpinet.papers.sth.measured import bisection, width
from mpinet.papers.sweeps import reached
from mpinet.papers.widths import CERTIFIED


def width_claim(id: str, *, claimed: Callable[[str], float], **said: Any) -> Claim:
    """Return a claim on a bisection width, measured only as far as needed for the verdict."""
    return claim(
        id,
        claimed=claimed,
        measured=lambda topology: width(topology, claimed(topology)),
        note=CERTIFIED,
        **said,
    )


def width_corrected(id: str, statement: str, claimed: Callable[[str], float]) -> Corrected:
    """Return a corrected bisection width, measured only as far as needed for the verdict."""
    return Corrected(
        id,
        statement,
        claimed=claimed,
        measured=lambda topology: width(topology, claimed(topology)),
        note=CERTIFIED,
    )


def table_1_row(m: int, printed: int) -> Measured:
    """Return a row of table 1."""
    cut = width(f"lst:{m}", printed)
    return Measured({"N": reached(f"lst:{m}"), "width": cut.value}, cut.where)


LOOP_WIDTHS = [
    claim(
        f"STH-T1-m{m}",
        place="table 1",
        statement=f"the bisection width of LST({m}), of {8 * m} nodes, is {printed}",
        claimed={"N": 8 * m, "width": printed},
        measured=partial(table_1_row, m, printed),
        note=CERTIFIED,
        cause="widths",
    )
    for m, printed in ((2, 20), (3, 32), (4, 44), (5, 56))
]


def loop_width(m: int) -> int:
    """Return the bisection width of LST(m): 8 for m = 2, and 10 from m = 3 on."""
    return 8 if m == 2 else 10


EVERY_LOOP = width_claim(
    "STH-T1-general",
    place="table 1",
    statement="the bisection width of LST(m) is 12m-4",
    claimed=of(lambda m: 12 * m - 4),
    grid=family("lst", (*range(2, 17), 32, 64, 128), "lst, 2..16,32,64,128").quick(up_to(64)),
    cause="widths",
    corrected=width_corrected(
        "STH-C-lst-width",
        "the bisection width of LST(m) is 8 for m = 2, 10 from m = 3 on",
        of(loop_width),
    ),
)

CUBE_WIDTH = width_claim(
    "STH-L5-tq-bisection",
    place="lemma 5",
    statement="the bisection width of the cube of n dimensions (every kind) is 2^(n-1)",
    claimed=of(lambda n: 2 ** (n - 1)),
    grid=networks(
        "every kind, n<=9",
        [f"{kind}:{n}" for n in range(1, 10) for kind in VALID if n in VALID[kind]],
    ).quick(up_to(64)),
)


def _product_of_widths(topology: str) -> int:
    """Return the loop's width times the cube's width, both exact."""
    loop, cube = (bisection(factor) for factor in factors(topology))
    assert loop.exact and cube.exact
    return loop.upper * cube.upper


PRODUCT_WIDTH = width_claim(
    "STH-L5-product-rule",
    place="lemma 5",
    statement="the bisection width of LST(2) times TQ_3 is the product of their bisection widths",
    claimed=_product_of_widths,
    grid=networks("LST(2) times TQ_3", [sth(2, 3)]),
    cause="widths",
)


def product_cut(topology: str) -> int:
    """Return the width of the cut that halves each copy of the loop by its narrowest cut."""
    loop, _ = factors(topology)
    # Every copy of the loop has the same cut. No link of a cube is cut, so the width is the loop's
    # width times 2^n.
    inside = set(bisection(loop).side)
    size = reached(loop)
    return measure.cut_width(
        topology, [node for node in range(reached(topology)) if node % size in inside]
    )


STH_WIDTH = width_claim(
    "STH-L5-sth-bisection",
    place="lemma 5",
    statement="the bisection width of STH(m,n) is (3m-1) 2^(n+1)",
    claimed=of(lambda m, n: (3 * m - 1) * 2 ** (n + 1)),
    grid=sths("m=2..4, n=2..6", (2, 3, 4), ["tq"], range(7)).quick(up_to(128)),
    cost=of(lambda m, n: m * 2**n / 50),
    cause="widths",
    corrected=Corrected(
        "STH-C-sth-width",
        relation="<=",
        claimed=of(lambda m, n: loop_width(m) * 2**n),
        measured=product_cut,
    ),
)


@claim(
    "STH-L5-forms",
    claimed=of(lambda m, n: [(12 * m - 4) * 2 ** (n - 1)] * 2),
    grid=sths("m=2..8, n=2..9", range(2, 9), ["tq"], range(10)),
    measures=False,
)
def forms(topology: str) -> list[int]:
    """Return the second and the third form, with measured N."""
    (m, n), (loop, _) = numbers(topology), factors(topology)
    return [(3 * m - 1) * 2 ** (n + 1), (3 * reached(loop) - 8) * 2 ** (n - 2)]
