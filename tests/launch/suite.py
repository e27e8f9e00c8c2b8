"""mpi4py's own suite, test by test, under a real mpirun and under mpinet exec.

``python tests/launch/suite.py`` runs what has not been run yet and writes the table of
docs/reference/mpi4py-programs.md; ``--sizes 4 --modules test_op,test_win`` runs a part of it. What
each test has come to is kept in test-logs/suite, so that a long run can be made in pieces.
"""

import argparse
import fcntl
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

CHECKOUT = Path(__file__).parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(CHECKOUT / "tests"))

from launch.sources import PYTHON, mpi4py_sources  # noqa: E402

SIZES = (1, 2, 3, 4, 5, 9)
REAL, EMULATED = SIDES = ("mpirun", "mpinet")
TOGETHER = 4
"""Modules that one job runs."""

SILENCE = 600
"""Seconds without news after which a job hangs."""

KEPT = CHECKOUT / "test-logs/suite"
PAGE = CHECKOUT / "docs/reference/mpi4py-programs.md"
BEGIN, END = "<!-- table of the suite -->", "<!-- end of the table -->"

Found = dict[str, str]
"""What tests have come to, by name: passes, skips, fails or hangs."""


def modules() -> list[str]:
    """The names of the suite's modules."""
    return sorted(file.stem for file in (mpi4py_sources() / "test").glob("test_*.py"))


def command(side: str, size: int) -> list[str]:
    """The words that run a script on some processors of a side."""
    driver = str(CHECKOUT / "tests/launch/drivers/unit_tests.py")
    folder = str(mpi4py_sources() / "test")
    if side == REAL:
        return [str(CHECKOUT / "launch/run"), "-n", str(size), str(PYTHON), driver, folder]
    mpinet = str(CHECKOUT / ".venv/bin/mpinet")
    return [mpinet, "exec", "--on", f"complete:{size}", driver, folder]


def run(side: str, size: int, names: list[str]) -> Found:
    """What the tests of modules come to; a job that hangs is begun again without what it did."""
    found: Found = {}
    while True:
        noted, ended = run_once(side, size, names, sorted(found))
        worst(found, noted)
        if ended:
            return found
        under_way = [name for name, outcome in found.items() if outcome == "begins"]
        if not under_way:  # it ends between two tests: nothing more is to be had
            return found
        for name in under_way:
            found[name] = "hangs"


def run_once(side: str, size: int, names: list[str], left_out: list[str]) -> tuple[Found, bool]:
    """What tests come to in one job, and whether it has come to its end."""
    with tempfile.TemporaryDirectory() as folder:
        settings = os.environ | {"UNIT_TEST_NOTES": folder, "PYTHONWARNINGS": "ignore"}
        job = subprocess.Popen(
            [*command(side, size), ",".join(names), *left_out],
            env=settings,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        heard = news(folder)
        while True:
            try:
                text, _ = job.communicate(timeout=SILENCE)
                break
            except subprocess.TimeoutExpired:
                if news(folder) == heard:
                    os.killpg(job.pid, signal.SIGKILL)
                    text, _ = job.communicate()
                    break
                heard = news(folder)
        found: Found = {}
        for file in Path(folder).iterdir():
            own: Found = {}
            for line in file.read_text().splitlines():
                outcome, name = line.split(" ", 1)
                if own.get(name) != "fails":
                    own[name] = outcome
            worst(found, own)
    return found, "\nRAN " in f"\n{text}"


def news(folder: str) -> int:
    """How much all ranks have noted."""
    return sum(file.stat().st_size for file in Path(folder).iterdir())


def worst(found: Found, others: Found) -> None:
    """Add what ranks have noted: a test passes where it passes on all that do not skip it."""
    order = ["skips", "passes", "fails", "begins", "hangs"]
    for name, outcome in others.items():
        found[name] = max(found.get(name, "skips"), outcome, key=order.index)


def measure(
    sizes: Sequence[int], names: list[str], sides: Sequence[str] = SIDES, again: bool = False
) -> None:
    """Run what has not been run yet."""
    for side in sides:
        for size in sizes:
            left = [name for name in names if again or not kept(side, size, name).exists()]
            for first in range(0, len(left), TOGETHER):
                some = left[first : first + TOGETHER]
                found = run(side, size, some)
                for name in some:
                    own = {test: what for test, what in found.items() if name in test.split(".")}
                    file = kept(side, size, name)
                    file.parent.mkdir(parents=True, exist_ok=True)
                    file.write_text(json.dumps(own, indent=0))
                print(side, size, *some, len(found), flush=True)


def kept(side: str, size: int, name: str) -> Path:
    """The file of what a module has come to."""
    return KEPT / f"{side}-{size}" / f"{name}.json"


def lacking(size: int, name: str) -> tuple[set[str], set[str]]:
    """The tests of a module that pass under mpirun, and those of them that do not here."""
    real, here = (json.loads(kept(side, size, name).read_text()) for side in SIDES)
    passed = {test for test, outcome in real.items() if outcome == "passes"}
    return passed, {test for test in passed if here.get(test) != "passes"}


def alone(size: int, name: str) -> tuple[set[str], set[str]]:
    """The tests of a module that are not skipped here, and those of them that do not pass."""
    here = json.loads(kept(EMULATED, size, name).read_text())
    tried = {test for test, outcome in here.items() if outcome != "skips"}
    return tried, {test for test in tried if here[test] != "passes"}


def table(sizes: tuple[int, ...] = SIZES) -> str:
    """The table: of what passes under mpirun, how much passes here."""
    said = stated()
    sizes = tuple(
        size for size in sizes if (KEPT / f"{EMULATED}-{size}").is_dir() or head(size) in said
    )
    heads = [head(size) for size in sizes]
    rows = [["module", *heads], ["---", *("---:" for _ in sizes)]]
    totals: dict[int, list[int]] = defaultdict(lambda: [0, 0])
    for name in modules():
        row = [f"`{name}`"]
        for size in sizes:
            if not kept(EMULATED, size, name).exists():
                row.append(said.get(head(size), {}).get(row[0], "not run"))
                counts = [*map(int, re.findall(r"\d+", row[-1]))] or [0]
                totals[size][0] += counts[0]
                totals[size][1] += counts[-1]
                continue
            beside = kept(REAL, size, name).exists()
            passed, lacks = lacking(size, name) if beside else alone(size, name)
            totals[size][0] += len(passed) - len(lacks)
            totals[size][1] += len(passed)
            cell = f"{len(passed) - len(lacks)} of {len(passed)}" if lacks else str(len(passed))
            row.append(cell if beside else f"{cell}*")
        rows.append(row)
    rows.append(["all", *("{} of {}".format(*totals[size]) for size in sizes)])
    columns = merged([*zip(*rows, strict=True)])
    return "".join(f"| {' | '.join(row)} |\n" for row in zip(*columns, strict=True))


def merged(columns: list[tuple[str, ...]]) -> list[tuple[str, ...]]:
    """The columns, with one column for neighbouring sizes with equal cells."""
    kept: list[tuple[str, ...]] = []
    for column in columns:
        if kept and kept[-1][1:] == column[1:]:
            kept[-1] = (f"{kept[-1][0].removesuffix(' processors')}, {column[0]}", *column[1:])
        else:
            kept.append(column)
    return kept


def head(size: int) -> str:
    """The head of a size's column."""
    return f"{size} processors" if size > 1 else "1 processor"


def stated() -> dict[str, dict[str, str]]:
    """The cells that the page has, by column and module: others have run what is not run here."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in PAGE.read_text().partition(BEGIN)[2].partition(END)[0].split("\n")
        if line.startswith("|")
    ]
    if not rows:
        return {}
    return {
        head(int(size)): {row[0]: row[place] for row in rows[2:]}
        for place in range(1, len(rows[0]))
        for size in re.findall(r"\d+", rows[0][place])
    }


def write() -> None:
    """Put the table into the page, one of those that run parts of it after the other."""
    KEPT.mkdir(parents=True, exist_ok=True)
    with open(KEPT / "writing", "w") as writing:
        fcntl.flock(writing, fcntl.LOCK_EX)
        text = PAGE.read_text()
        before, _, rest = text.partition(BEGIN)
        _, _, behind = rest.partition(END)
        PAGE.write_text(f"{before}{BEGIN}\n\n{table()}\n{END}{behind}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)))
    parser.add_argument("--modules", default="")
    parser.add_argument("--sides", default=",".join(SIDES))
    parser.add_argument("--again", action="store_true")
    given = parser.parse_args()
    chosen = given.modules.split(",") if given.modules else modules()
    sizes = [int(size) for size in given.sizes.split(",")]
    measure(sizes, chosen, given.sides.split(","), given.again)
    if PAGE.exists():
        write()
