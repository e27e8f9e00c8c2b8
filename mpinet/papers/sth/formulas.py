"""Formulas of the paper for the cells of its tables (docs/papers/sth, 7).

A row of N nodes has DLH(N/512, 7), STH(N/1024, 7) (at N = 1024 STH(2,6)) and the hypercube of N
nodes. For a Hex-Cell the paper uses sqrt(N/6) levels, which is not an integer.
"""

from __future__ import annotations

from math import ceil, log2, sqrt

LENGTH, UNIT, LATENCY = 1024, 1, 1000
"""Parameters of a broadcast: length of the message in units, transmission time of a unit in
microseconds, and latency in microseconds.
"""


ONE_TO_ALL = (
    "Corrected text: (sqrt(Ma/(bd)) - sqrt(D-1))^2 is printed. The latency b belongs under the "
    "other root, and the roots add: (sqrt(Ma/d) + sqrt(b(D-1)))^2."
)
"""Formulas of the bound on one-to-all broadcasts."""


def dlh_parameters(nodes: int) -> tuple[int, int]:
    """Return m and n of the DLH in the table row of N nodes."""
    return nodes // 512, 7


def sth_parameters(nodes: int) -> tuple[int, int]:
    """Return m and n of the STH in the table row of N nodes."""
    return (2, 6) if nodes == 1024 else (nodes // 1024, 7)


def one_to_all(degree: int, diameter: int) -> float:
    """Return a lower bound of an all-port broadcast's time, in microseconds."""
    return (sqrt(LENGTH * UNIT / degree) + sqrt(LATENCY * (diameter - 1))) ** 2


def one_to_all_printed(degree: float, diameter: float) -> float:
    """Return the bound by the printed formula."""
    return (sqrt(LENGTH * UNIT / (LATENCY * degree)) - sqrt(diameter - 1)) ** 2


def all_to_all(nodes: int, degree: int, diameter: int) -> float:
    """Return a lower bound of an all-to-all broadcast's time, in microseconds."""
    return (nodes - 1) * UNIT / degree + diameter * LATENCY


def sth_diameter(m: int, n: int) -> int:
    """Return the diameter of STH(m,n) by lemma 3."""
    return m + 1 + ceil((n + 1) / 2)


def twisted_diameter(n: int) -> int:
    """Return the true diameter of definition 8's cube: n - 1, or 2 for n = 2."""
    return max(2, n - 1)


def sth_diameter_by_kind(kind: str, m: int, n: int) -> int:
    """Return the true diameter of STH(m,n): lemma 3's, or with definition 8's cube."""
    return m + 1 + twisted_diameter(n) if kind == "tq" else sth_diameter(m, n)


def basic_cells(nodes: int) -> dict[str, tuple[int, ...]]:
    """Return a row of table 5: diameter, links, cost factor and cost of DLH, Hex-Cell and STH."""
    (m, n), (p, q) = dlh_parameters(nodes), sth_parameters(nodes)
    i = sqrt(nodes / 6)
    diameters = m + n + 1, int(4 * i - 1), sth_diameter(p, q)
    links = m * 2 ** (n + 1) * (3 + n), 9 * i * i - 3 * i, p * 2 ** (q + 2) * (4 + q)
    degrees = 3 + n, 3, 4 + q
    return {
        "D": diameters,
        "L": (links[0], ceil(links[1]), links[2]),
        "d*D": tuple(d * D for d, D in zip(degrees, diameters, strict=True)),
        "L*D": tuple(int(L * D) for L, D in zip(links, diameters, strict=True)),
    }


def broadcast_cells(nodes: int) -> dict[str, tuple[float, ...]]:
    """Return a row of table 6: width and broadcast costs of DLH, Hex-Cell and STH."""
    (m, n), (p, q) = dlh_parameters(nodes), sth_parameters(nodes)
    ends = list(zip((3 + n, 3, 4 + q), basic_cells(nodes)["D"], strict=True))
    return {
        "width": (m * 2**n, 2 * sqrt(nodes / 6), (3 * p - 1) * 2 ** (q + 1)),
        "one-to-all": tuple(one_to_all(*end) for end in ends),
        "all-to-all": tuple(all_to_all(nodes, *end) for end in ends),
    }


def average_cells(nodes: int) -> dict[str, tuple[float, ...]]:
    """Return a row of table 7: average distance and traffic density of the hypercube and STH."""
    m, n = sth_parameters(nodes)
    loop = m * (4 * m + 7) / (8 * m - 1) ** 2
    averages = (
        nodes * log2(nodes) / (2 * (nodes - 1)),
        loop + (n * 2 ** (n - 1) - 1) / (2**n - 1),
    )
    links = nodes * log2(nodes) / 2, m * 2 ** (n + 2) * (4 + n)
    return {
        "average": averages,
        "density": tuple(a * nodes / L for a, L in zip(averages, links, strict=True)),
    }
