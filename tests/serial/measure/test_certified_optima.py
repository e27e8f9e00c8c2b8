"""The table of certified optima in the documentation: made again, row by row."""

import csv
import os
import runpy
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).parents[3]
REFERENCE = CHECKOUT / "docs/reference"
MADE = runpy.run_path(str(CHECKOUT / "docs/_extensions/optima.py"))
COLLECTIVES, row_of, networks, cell = (
    MADE[name] for name in ("COLLECTIVES", "row_of", "networks", "cell")
)


def published():
    with (REFERENCE / "optima.csv").open(newline="") as file:
        return [*csv.DictReader(file)]


def test_the_page_has_what_the_table_says_of_every_network_and_collective():
    table = {(row["network"], row["collective"]): row for row in published()}
    page = (REFERENCE / "optima.md").read_text()
    lines = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:3] == "| `"]
    told = {name.strip("`"): (rest[2], *rest[-2:]) for name, *rest in lines}
    assert [*told] == networks()
    for network, cells in told.items():
        assert cells == tuple(cell(table[network, collective]) for collective in COLLECTIVES)
    proved = [row["collective"] for row in table.values() if row["lower"] == row["upper"]]
    assert MADE["counted"](page) == page
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
