"""The table of optima in docs/reference: proving the rows of a network, or printing all rows again.

``python docs/_extensions/optima.py NAME:ARGUMENTS`` adds a network to ``optima.toml``, its rows to
``optima.csv`` and its line to the table of ``optima.md``. Without an argument, all rows of
``optima.csv`` are computed and printed again. Tests compare the three files.
"""

from __future__ import annotations

import csv
import os
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import mpinet
from mpinet.errors import UsageError
from mpinet.experiments.plan import read_plan

REFERENCE = Path(__file__).parents[1] / "reference"
COLLECTIVES = ("broadcast", "gossip", "allreduce")
LIMIT = 20
"""Time limit of each search, in seconds."""

COLUMNS = ("network", "collective", "lower", "upper", "lower_by", "upper_by", "certificate_sha256")

COUNTS = re.compile(
    r"Of \d+ networks \d+ (reach .*?), \d+ (do not); \d+ (.*?)\. \d+ (gossips) and \d+"
)
"""Sentences of the page with numbers of rows."""


def networks() -> list[str]:
    """Return the networks of the table."""
    return read_plan(REFERENCE / "optima.toml")["topology"]


def row_of(network: str, collective: str) -> dict[str, str]:
    """Search for an optimum, check its certificate, and return the row of `optima.csv`."""
    return _searched(network, collective)[0]


def _searched(network: str, collective: str) -> tuple[dict[str, str], dict[str, Any]]:
    """Return the row of an optimum, and the whole result."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "c.cert")
        asked: dict[str, Any] = {"collective": collective, "limit": LIMIT}
        try:
            found = mpinet.optimum(network, **asked, save=str(file))
        except UsageError as error:
            assert "There is no certificate" in str(error)
            found, hashed = mpinet.optimum(network, **asked), ""
        else:
            assert mpinet.certify(str(file)).document()["result"]["verified"]
            hashed = sha256(file.read_bytes()).hexdigest()
    result = found.document()["result"]
    bounds = {name: str(result[name]) for name in COLUMNS[2:-1]}
    said = {"network": network, "collective": collective, "certificate_sha256": hashed}
    return said | bounds, result


def made() -> Iterator[dict[str, str]]:
    """Yield all rows, computed in as many processes as there are cores."""
    wanted = [(network, collective) for network in networks() for collective in COLLECTIVES]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(row_of, *zip(*wanted, strict=True))


def cell(row: dict[str, str]) -> str:
    """Return the optimum of a row, or both bounds if the optimum is unknown."""
    low, high = row["lower"], row["upper"]
    return f"**{high}**" if low == high else f"{low}..{high}"


def line_of(rows: list[dict[str, str]], broadcast: dict[str, Any]) -> str:
    """Return a network's line of the page's table, from its rows and broadcast result."""
    own, algorithm = broadcast.get("own") or "-", broadcast.get("own_algorithm") or ""
    simple = [str(broadcast["bounds"][name]) for name in ("distance", "growth")]
    by, cells = rows[0]["lower_by"], [cell(row) for row in rows]
    first = [f"`{rows[0]['network']}`", str(own), algorithm, cells[0], by, *simple, *cells[1:]]
    return f"| {' | '.join(first)} |"


def add(network: str) -> None:
    """Add a network at the end of the table."""
    found = [_searched(network, collective) for collective in COLLECTIVES]
    rows = [row for row, _ in found]
    with (REFERENCE / "optima.csv").open("a", newline="") as file:
        csv.DictWriter(file, COLUMNS, lineterminator="\n").writerows(rows)
    plan, page = REFERENCE / "optima.toml", REFERENCE / "optima.md"
    plan.write_text(plan.read_text().rstrip().removesuffix("]") + f'  "{network}",\n]\n')
    lines = page.read_text().splitlines()
    last = max(at for at, line in enumerate(lines) if line.startswith("| `"))
    lines.insert(last + 1, line_of(rows, found[0][1]))
    page.write_text(counted("\n".join(lines) + "\n"))


def counted(page: str) -> str:
    """Return the page with updated numbers of rows."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:3] == "| `"]
    ran = [(own, optimum.strip("*")) for _, own, _, optimum, *_ in rows if own != "-"]
    equal = sum(own == optimum for own, optimum in ran)
    above = sum(int(row[3].strip("*")) > max(int(row[5]), int(row[6])) for row in rows)
    gossips, allreduces = (sum(row[at].startswith("**") for row in rows) for at in (7, 8))
    text = rf"Of {len(rows)} networks {equal} \1, {len(ran) - equal} \2; {above} \3. {gossips} \4"
    return COUNTS.sub(f"{text} and {allreduces}", page)


if __name__ == "__main__":
    if sys.argv[1:]:
        add(*sys.argv[1:])
    else:
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        for each in made():
            writer.writerow(each)
            sys.stdout.flush()
