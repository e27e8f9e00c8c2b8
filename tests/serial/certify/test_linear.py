"""Class certificates as linear programs: solved in fractions, they tell too few processors."""

import re
import shutil
import subprocess
from fractions import Fraction
from itertools import combinations

import pytest

import mpinet
from mpinet.errors import CertificateError

ESOLVER = shutil.which("esolver")
"""QSopt_ex's solver of linear programs in rational numbers; it is asked, too, where it is."""

TERM = re.compile(r"([+-]) (\d+) (\w+)")


def read(text):
    """Objective and rows of a file: sums by variable, and right sides."""
    comment, body = text.split("Maximize\n")
    aim, rows = body.split("Subject To\n")
    assert comment.startswith("\\") and rows.endswith("End\n")
    joined = [part.replace("\n ", " ") for part in re.split(r"\n (?=\w+:)", "\n" + aim + rows)[1:]]
    sums = [
        {x: int(sign + number) for sign, number, x in TERM.findall(line.partition(":")[2])}
        for line in joined
    ]
    sides = [int(line.partition("<=")[2].removesuffix("End\n")) for line in joined[1:]]
    return sums[0], [*zip(sums[1:], sides, strict=True)]


def greatest(aim, rows):
    """The optimum, by Bland's simplex method in fractions; right sides are 0 or more."""
    names = [*dict.fromkeys([*aim, *(x for sums, _ in rows for x in sums)])]
    count = len(rows)
    table = []
    for at, (sums, side) in enumerate(rows):
        slack = [Fraction(at == other) for other in range(count)]
        table.append([*(Fraction(sums.get(x, 0)) for x in names), *slack, Fraction(side)])
    last = [*(Fraction(-aim.get(x, 0)) for x in names), *[Fraction(0)] * (count + 1)]
    basis = [len(names) + at for at in range(count)]
    while any(value < 0 for value in last[:-1]):
        column = next(at for at, value in enumerate(last) if value < 0)
        least = min(row[-1] / row[column] for row in table if row[column] > 0)
        tied = [at for at, row in enumerate(table) if row[column] > 0]
        tied = [at for at in tied if table[at][-1] / table[at][column] == least]
        pivot = min(tied, key=basis.__getitem__)
        basis[pivot] = column
        table[pivot] = [value / table[pivot][column] for value in table[pivot]]
        for row in (*table[:pivot], *table[pivot + 1 :], last):
            if times := row[column]:
                row[:] = [a - times * b for a, b in zip(row, table[pivot], strict=True)]
    return last[-1]


def solved(file):
    """The optimum that the other solver finds."""
    words = [ESOLVER, "-L", "-O", str(file.with_suffix(".sol")), str(file)]
    subprocess.run(words, check=True, capture_output=True)
    found = re.search(r"Value = (\S+)", file.with_suffix(".sol").read_text())
    return Fraction(found[1])


def most_told(network, root, steps):
    """How many processors but the root one-port broadcasts of so many steps tell, by trying all."""
    topology = mpinet.open(network)
    near = [{topology.neighbor(u, p) for p in range(topology.ports)} for u in range(topology.size)]
    told = {frozenset([root])}
    for _ in range(steps):
        after = set()
        for known in told:
            links = [(u, v) for u in known for v in near[u] - known - {-1}]
            for many in range(len(known) + 1):
                for chosen in combinations(links, many):
                    senders, heard = (
                        ({*ends} for ends in zip(*chosen, strict=True)) if many else ((), ())
                    )
                    if len(senders) == len(heard) == many:
                        after.add(known | frozenset(heard))
        told = after
    return max(map(len, told)) - 1


@pytest.mark.parametrize(
    ("network", "asked", "steps"),
    [("debruijn:3", {}, 3), ("debruijn:3", {"items": 5}, 3), ("ring:7", {"root": 4}, 3)],
)
def test_the_optimum_is_too_few_processors_and_a_changed_number_shows(
    tmp_path, network, asked, steps
):
    mpinet.optimum(network, save=tmp_path / "x.cert", **asked)
    file = tmp_path / "x.lp"
    found = mpinet.certify(tmp_path / "x.cert", export=file)
    assert found["kind"] == "class-lp" and found["more_than"] == steps + asked.get("items", 1) - 1
    text = file.read_text()
    assert max(map(len, text.splitlines())) <= 200
    others, best = mpinet.open(network).size - 1, greatest(*read(text))
    assert f"how many of {others} processors are told in {steps} steps" in text
    assert most_told(network, asked.get("root", 0), steps) <= best < others
    smaller = re.sub(r"(r0: .*<= )(\d+)", lambda row: f"{row[1]}{int(row[2]) - 1}", text, count=1)
    wrong = text.replace(" - 1 x", " - 2 x")  # whoever is told tells two in a step
    assert greatest(*read(smaller)) <= best < greatest(*read(wrong)) <= others
    for written in (text, smaller, wrong) if ESOLVER else ():
        file.write_text(written)
        assert solved(file) == greatest(*read(written))


def test_certificates_of_other_kinds_have_no_program(tmp_path):
    for network, asked in [("complete:9", {}), ("petersen", {"collective": "bisection"})]:
        mpinet.optimum(network, save=tmp_path / "x.cert", **asked)
        with pytest.raises(CertificateError, match="only class-lp has a linear program"):
            mpinet.certify(tmp_path / "x.cert", export=tmp_path / "x.lp")
        assert not (tmp_path / "x.lp").exists()
