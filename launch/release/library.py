"""Compile all kernels and rules of mpinet into the library that platform wheels bring.

Usage: python launch/release/library.py [--levels LEVEL,..] [--processes N] [--only REGEX]
       [--linker COMMAND] [--pythons PYTHON ..] [--build FOLDER] [--into FOLDER]

The Python that runs this needs mpinet and Numba. Each of the others needs NumPy, networkx and
greenlet. Objects are kept in the build folder, so a second run compiles only changed code.
"""

from __future__ import annotations

import argparse
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path

# What Numba itself optimises has to hold for all levels, whatever this machine can do. Each process
# that compiles reads this when it imports Numba.
os.environ["NUMBA_CPU_NAME"] = "x86-64-v2"
os.environ["NUMBA_CPU_FEATURES"] = ""
os.environ.pop("NUMBA_DISABLE_JIT", None)

CHECKOUT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CHECKOUT))

from mpinet.base.native.library import FOLDER, HEADING, index_name  # noqa: E402
from mpinet.base.roomy import roomy  # noqa: E402
from mpinet.launching import compiling  # noqa: E402

LINUX = "unknown-linux-gnu"
LEVELS = {
    "x86-64-v2": (f"x86_64-{LINUX}", "x86-64-v2", ""),
    "x86-64-v3": (f"x86_64-{LINUX}", "x86-64-v3", ""),
    "x86-64-v4": (f"x86_64-{LINUX}", "x86-64-v4", ""),
    "aarch64": (f"aarch64-{LINUX}", "generic", "+neon"),
}
"""Machine and system, least processor, and further abilities of each level."""

GLIBC = "2.17"
"""The C library of manylinux2014."""

LINKING = [
    "-shared", "-fPIC", "-O2", "-s", "-Wl,-z,defs", "-Wl,--hash-style=gnu", "-Wl,--build-id=none",
]  # fmt: skip
"""Options that give the same library wherever and whenever it is linked."""


def main() -> None:
    """Compile, link, and write the indexes."""
    given = parsed()
    levels = given.levels.split(",")
    objects = given.build / f"objects-{stamp()}"
    names = [name for name in compiling.everything() if re.search(given.only, name)]
    compile_missing(names, objects, levels, given.processes)
    given.into.mkdir(parents=True, exist_ok=True)
    files = link(names, objects, levels, given)
    symbols = {
        key: code.fingerprint for name in names for key, code in compiling.codes(name).items()
    }
    for python in [sys.executable, *given.pythons]:
        files.append(write_index(python, symbols, given))
    for file in files:
        print(f"{file}: {file.stat().st_size:,} bytes")


def parsed() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--levels", default="x86-64-v2", help=f"of {', '.join(LEVELS)}")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--only", default="", metavar="REGEX", help="names of compiling.everything")
    parser.add_argument("--linker", default="cc", help="'python -m ziglang cc' for old C libraries")
    parser.add_argument("--pythons", nargs="*", default=[], help="other versions of Python")
    parser.add_argument("--build", type=Path, default=CHECKOUT / "build/library")
    parser.add_argument("--into", type=Path, default=FOLDER)
    return parser.parse_args()


def stamp() -> str:
    """Return a name for all that objects depend on besides what is compiled."""
    texts = [
        f"{sys.version_info[:2]}",
        *(f"{each} {version(each)}" for each in ("numba", "llvmlite")),
    ]
    texts += [f"{LEVELS}"]
    for path in sorted((CHECKOUT / "mpinet/compiler").glob("*.py")):
        texts.append(path.read_text(encoding="utf-8"))
    return sha256("\n".join(texts).encode()).hexdigest()[:12]


def compile_missing(names: list[str], objects: Path, levels: list[str], processes: int) -> None:
    """Compile what has no object yet for each level."""
    for level in levels:
        (objects / level).mkdir(parents=True, exist_ok=True)

    def has(code: compiling.Compiled) -> bool:
        return not _lacking(code, objects, levels)

    wanted, wrong = compiling.missing(names, has)
    work = partial(compile_one, objects, levels)
    wrong_text = compiling.in_processes(work, wanted, wrong, processes, told())
    if wrong_text:
        sys.exit(f"launch/release/library.py: {wrong_text}")


def compile_one(objects: Path, levels: list[str], name: str, key: str) -> None:
    """Compile a kernel or a rule for each level that lacks it."""
    from mpinet.compiler import objects as compiler

    code = compiling.codes(name)[key]
    lacking = _lacking(code, objects, levels)
    targets = [compiler.Target(*LEVELS[level]) for level in lacking]
    make = partial(compiler.made, code.description, code.fingerprint, targets)
    for level, made in zip(lacking, roomy(make)() if lacking else [], strict=True):
        place = _place(code, objects, level)
        whole = place.with_suffix(f".{os.getpid()}")
        whole.write_bytes(made)
        whole.rename(place)


def _place(code: compiling.Compiled, objects: Path, level: str) -> Path:
    return objects / level / f"{code.fingerprint}.o"


def _lacking(code: compiling.Compiled, objects: Path, levels: list[str]) -> list[str]:
    return [level for level in levels if not _place(code, objects, level).exists()]


def told() -> Callable[[int, int], None]:
    """Return a function that prints how far the compiler is, at every twentieth part."""

    def show(done: int, of: int) -> None:
        if of and (done == of or done * 20 // of > (done - 1) * 20 // of):
            print(f"compiled {done} of {of}", flush=True)

    return show


def link(
    names: list[str], objects: Path, levels: list[str], given: argparse.Namespace
) -> list[Path]:
    """Link the objects of each level, in an order that depends on nothing but their names."""
    codes = [code for name in names for code in compiling.codes(name).values()]
    made = []
    for level in levels:
        files = sorted({str(_place(code, objects, level)) for code in codes})
        target = given.into / f"libmpinet-{level}.so"
        with tempfile.NamedTemporaryFile("w", suffix=".objects") as listed:
            listed.write("\n".join(f'"{file}"' for file in files))  # folders may have blanks
            listed.flush()
            command = [
                *_linker(given.linker, level),
                *LINKING,
                "-o",
                str(target),
                f"@{listed.name}",
            ]
            subprocess.run([*command, "-lm"], check=True)
        made.append(target)
    return made


def _linker(linker: str, level: str) -> list[str]:
    command = shlex.split(linker)
    if "ziglang" in command or "zig" in command:
        command += [
            "-target",
            f"{level.partition('-v')[0].replace('x86-64', 'x86_64')}-linux-gnu.{GLIBC}",
        ]
    return command


def write_index(python: str, symbols: dict[str, str], given: argparse.Namespace) -> Path:
    """Write the index of a version of Python: its fingerprints, with the symbols of the library.

    The first index has what networks are made with; as plain Python, some would take minutes.
    """
    told = "import sys; print(*sys.version_info[:2])"
    said = subprocess.run([python, "-c", told], check=True, capture_output=True, text=True).stdout
    major, minor = map(int, said.split())
    index: Path = given.into / index_name((major, minor))
    index.unlink(missing_ok=True)
    for which in ("usual", "everything"):
        own = fingerprints(python, which, given)
        lines = sorted({f"{own[key]} mp_{symbols[key]}\n" for key in own.keys() & symbols.keys()})
        index.write_text("".join([f"{HEADING}\n", *lines]), encoding="ascii")
    if own.keys() != symbols.keys():
        odd = min(own.keys() ^ symbols.keys())
        sys.exit(f"launch/release/library.py: {python} and this Python do not both have {odd!r}.")
    return index


def fingerprints(python: str, which: str, given: argparse.Namespace) -> dict[str, str]:
    """Return the fingerprints that a version of Python computes, by the keys of the codes."""
    script = Path(__file__).with_name("fingerprints.py")
    done = subprocess.run(
        [python, str(script), str(CHECKOUT), str(given.into), which, given.only],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return dict(line.split("\t") for line in done.stdout.splitlines())


if __name__ == "__main__":
    main()
