"""Start-up: what a small command imports, and what it costs next to the bare import of libraries.

The second part reads a clock, as it checks goals that are times: docs/reference/speed.md has the
table. It counts CPU in units of ``python -c 'import numpy, networkx'``, measured in turn.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from statistics import median

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]

UNUSED = (
    "email importlib.metadata llvmlite matplotlib mpi4py networkx numba numpy.random rich scipy"
).split()
"""Modules that take long to import and that small commands do not use."""

SMALL = (
    "broadcast torus:8x8x8",
    "route hypercube:10",
    "flood debruijn:4",
    "show torus:8x8 --distances",
    "ascend hypercube:6 --operator sum",
    "path torus:8x8 0 9",
    "neighbors torus:8x8 3",
    "predict broadcast hypercube:8 --ranks 4",
)
"""Commands without a network file, a script and a picture."""

AT_THE_END = """
import atexit, sys
atexit.register(lambda: print("modules", *sys.modules, file=sys.stderr))
from mpinet.cli import main
main()
"""


def modules_after(command: str, cache: Path) -> set[str]:
    """The modules that a command has imported when it ends, with an empty cache of code."""
    words = [sys.executable, "-c", AT_THE_END, *command.split()]
    done = subprocess.run(words, capture_output=True, text=True, env=first(cache))
    assert done.returncode == 0, done.stderr
    said, *names = done.stderr.splitlines()[-1].split()
    assert said == "modules"
    return set(names)


def first(cache: Path) -> dict[str, str]:
    """The environment of a first start: nothing is kept, and nothing is compiled."""
    hidden = ("NUMBA_", "MPINET_", "PYTHONDONTWRITEBYTECODE", "COVERAGE")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(hidden)}
    return kept | {"MPINET_COMPILE": "never", "MPINET_CACHE": str(cache), "PYTHONHASHSEED": "0"}


@pytest.mark.parametrize("command", SMALL)
def test_small_commands_import_no_library_that_they_do_not_use(
    command: str, tmp_path: Path
) -> None:
    assert modules_after(command, tmp_path) & set(UNUSED) == set()


def test_the_parser_of_a_command_does_not_load_other_commands() -> None:
    code = (
        "import sys\nfrom mpinet.cli.commands import parse\nparse(['flood', 'ring:4'])\n"
        "print(*(n for n in sys.modules if n.startswith('mpinet.commands.')))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    loaded = {name.rpartition(".")[2] for name in done.stdout.split()}
    declared = {path.stem for path in (CHECKOUT / "mpinet/commands").glob("*.py")}
    from mpinet.commands.catalogue import COMMANDS, MODULES

    others = {MODULES.get(name, name) for name in COMMANDS} - {"flood"}
    assert "flood" in loaded <= declared
    assert loaded & others == set()


HELLO = "from mpi4py import MPI\nprint('hello from', MPI.COMM_WORLD.rank)\n"

UNIT = ("-c", "import numpy, networkx")
"""The unit: an import of two libraries."""


@dataclass(frozen=True)
class Goal:
    """Most units of CPU that a command may take, by where its code comes from."""

    words: str
    """The command; ``README``: the Python of the README."""
    checkout: float | None
    """First start of a checkout: plain Python alone."""
    warm: float | None
    """Start of a checkout whose code is kept."""
    wheel: float | None
    """First start of an installed wheel: code of its library."""

    @property
    def argv(self) -> list[str]:
        """The words after the interpreter."""
        return ["readme.py"] if self.words == "README" else ["-m", "mpinet", *self.words.split()]


GOALS = (
    Goal("broadcast torus:8x8x8", 1.3, 1.4, 1.3),
    Goal("route hypercube:10", 1.3, 1.4, 1.3),
    Goal("show torus:8x8 --distances", 1.3, 1.4, 1.3),
    Goal("exec --on ring:16 hello.py", 1.6, 1.6, 1.6),
    Goal("show torus:8x8x8 --distances", 2.2, 1.4, 1.4),
    Goal("README", None, 1.9, 1.9),
    Goal("load torus:8x8 --rate 0.1", 8.5, 1.9, 1.6),
    Goal("replay allreduce:ring,1MB --on torus:4x4 --latency 50 --time-byte 1", 1.6, 1.5, 1.4),
    Goal("optimum debruijn:3", 3.6, 2.2, 2.2),
    Goal("ascend hypercube:6 --operator sum", 1.3, 1.4, 1.3),
    Goal("flood debruijn:4", 1.3, 1.4, 1.3),
    Goal("predict broadcast hypercube:8 --ranks 4", 1.3, 1.4, 1.3),
    Goal("path torus:8x8 0 9", 1.3, 1.4, 1.3),
    Goal("neighbors torus:8x8 3", 1.3, 1.4, 1.3),
    Goal("launch -n 4 broadcast torus:8x8x8", 5.2, 5.2, 5.2),
)
"""Goals; ``launch`` counts all processes."""

MOST_MEMORY = 60 * 2**20
"""Most bytes of a rank of a small job."""

SMALL = 1.3
"""Goal of the commands that count as small jobs."""

WHEEL = os.environ.get("MPINET_TEST_WHEEL")
"""Python of an environment in which a platform wheel is installed; unset: no wheel is tested."""

STATES = ("checkout", "warm", *(["wheel"] if WHEEL else []))

TURNS = 7

SEARCHES = {
    "README": 6.0,
    "load torus:16x16 --rate 0.1..0.8/8 --steps 2000": 12.0,
}
"""Long commands with the seconds that a first start may take beyond a warm one, on idle cores."""


@dataclass(frozen=True)
class Place:
    """Folder where commands are run, with a cache of compiled code."""

    folder: Path
    python: str
    environment: dict[str, str]

    def cost(self, argv: list[str], **more: str) -> tuple[float, float, int]:
        """Run Python with these words; return seconds of CPU and of the clock, and peak bytes."""
        words, began = [self.python, *argv], time.perf_counter()
        with subprocess.Popen(
            words,
            cwd=self.folder,
            env=self.environment | more,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ) as process:
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, words
        took = time.perf_counter() - began
        return used.ru_utime + used.ru_stime, took, used.ru_maxrss * 1024


def place(folder: Path, state: str) -> Place:
    """Make the place of commands in a state; in the warm one their code is compiled."""
    (folder / "hello.py").write_text(HELLO)
    (folder / "readme.py").write_text(readme_program())
    cache = folder / "cache"
    made = Place(folder, WHEEL if state == "wheel" and WHEEL else sys.executable, first(cache))
    if state == "warm":
        for goal in GOALS:
            made.cost(goal.argv, MPINET_COMPILE="wait")
        made.environment["MPINET_COMPILE"] = "background"
    return made


@cache
def readme_program() -> str:
    """The first Python program of the README."""
    text = (CHECKOUT / "README.md").read_text()
    return text.partition("```python\n")[2].partition("```")[0]


@pytest.mark.long
@pytest.mark.parametrize("state", STATES)
def test_commands_start_within_their_goals(state: str, tmp_path: Path) -> None:
    there = place(tmp_path, state)
    goals = [goal for goal in GOALS if getattr(goal, state) is not None]
    taken: dict[str, list[float]] = {goal.words: [] for goal in goals}
    units, peaks = [], dict.fromkeys(taken, 0)
    for turn in range(TURNS + 1):  # the first one writes bytecode
        unit, _, _ = there.cost(list(UNIT))
        costs = {goal.words: there.cost(goal.argv) for goal in goals}
        if turn:
            units.append(unit)
            for words, (seconds, _, peak) in costs.items():
                taken[words].append(seconds)
                peaks[words] = max(peaks[words], peak)
    found = {words: median(seconds) / median(units) for words, seconds in taken.items()}
    for words, number in found.items():
        print(f"{state:8}  {number:5.2f}  {peaks[words] / 1e6:5.1f} MB  {words}")
    late = {
        goal.words: found[goal.words] for goal in goals if found[goal.words] > getattr(goal, state)
    }
    assert late == {}
    small = {goal.words for goal in goals if goal.checkout is not None and goal.checkout <= SMALL}
    assert max(peaks[words] for words in small) <= MOST_MEMORY


@pytest.mark.long
@pytest.mark.parametrize("words", SEARCHES)
def test_a_first_start_waits_a_few_seconds_for_the_compiler(words: str, tmp_path: Path) -> None:
    argv = Goal(words, None, None, None).argv
    beyond = []
    for turn in range(3):
        folder = tmp_path / str(turn)
        folder.mkdir()
        there = place(folder, "checkout")
        _, cold, _ = there.cost(argv, MPINET_COMPILE="background")
        there.cost(argv, MPINET_COMPILE="wait")
        _, warm, _ = there.cost(argv, MPINET_COMPILE="background")
        beyond.append(cold - warm)
    assert median(beyond) <= SEARCHES[words]
