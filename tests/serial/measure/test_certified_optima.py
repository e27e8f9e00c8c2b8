"""The table of certified optima in the documentation: made again, row by row.

`python tests/serial/measure/test_certified_optima.py > docs/reference/optima.csv` makes it.
"""

import csv
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

import mpinet
from mpinet.errors import UsageError
from mpinet.experiments.plan import read_plan

REFERENCE = Path(__file__).parents[3] / "docs/reference"
COLLECTIVES = ("broadcast", "gossip", "allreduce")
LIMIT = 20
"""Seconds of each search."""

COLUMNS = ("network", "collective", "lower", "upper", "lower_by", "upper_by", "certificate_sha256")


def published():
    with (REFERENCE / "optima.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


def row_of(network, collective):
    """Search an optimum, have its certificate checked, and return the table's row."""
    with TemporaryDirectory() as folder:
        file = Path(folder, "c.cert")
        asked = {"collective": collective, "limit": LIMIT}
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
    return said | bounds


def networks():
    """The networks of the table."""
    return read_plan(REFERENCE / "optima.toml")["topology"]


def made():
    """All rows, as many at a time as there are processors."""
    wanted = [(network, collective) for network in networks() for collective in COLLECTIVES]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(row_of, *zip(*wanted, strict=True))


def cell(row):
    """What the page says of a row: the optimum, or both bounds."""
    low, high = row["lower"], row["upper"]
    return f"**{high}**" if low == high else f"{low}..{high}"


def test_the_page_has_what_the_table_says_of_every_network_and_collective():
    table = {(row["network"], row["collective"]): row for row in published()}
    page = (REFERENCE / "optima.md").read_text()
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:3] == "| `"]
    told = {name.strip("`"): (rest[2], *rest[-2:]) for name, *rest in lines}
    assert [*told] == networks()
    for network, cells in told.items():
        assert cells == tuple(cell(table[network, collective]) for collective in COLLECTIVES)
    proved = [row["collective"] for row in table.values() if row["lower"] == row["upper"]]
    said = (
        f"{proved.count('gossip')} gossips and {proved.count('allreduce')} allreduces are decided"
    )
    assert said in page and proved.count("broadcast") == len(told)


def comes_out_again(row):
    """Tell if a row is made again; of an open one, which time could narrow, that bounds agree."""
    found = row_of(row["network"], row["collective"])
    low, high = max(int(each["lower"]) for each in (row, found)), int(found["upper"])
    return found == row or (row["lower"] != row["upper"] and low <= min(high, int(row["upper"])))


@pytest.mark.parametrize("number", [0, 46, 154])
def test_a_few_rows_come_out_again(number):
    row = published()[number]
    assert row["lower"] == row["upper"]
    assert row_of(row["network"], row["collective"]) == row


@pytest.mark.long
def test_all_rows_come_out_again():
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        agreed = pool.map(comes_out_again, published())
        assert [row for row, same in zip(published(), agreed, strict=True) if not same] == []


if __name__ == "__main__":
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for each in made():
        writer.writerow(each)
        sys.stdout.flush()
