"""Compare what two checkouts do with the same command lines: texts, documents, files, statuses.

``python tests/commandlines/commandlines.py OLD NEW [--only WORD] [--jobs 2] [--real]``

OLD and NEW are folders of checkouts. Each line of `lines.txt` has commands, without ``mpinet``
and joined by `` ; ``. They run one after the other in a new folder, which has the files of
`inputs.py`. The differences are printed. The status is 1 if there are any, or if NEW has an option
or a command that no line uses. The Python that runs this runs the commands of both.
"""

import argparse
import json
import re
import shlex
import shutil
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from difflib import unified_diff
from pathlib import Path
from tempfile import TemporaryDirectory

import inputs
from checkouts import Checkout
from varying import JOURNALS, content, steady

LINES = Path(__file__).with_name("lines.txt")
NEXT = ";"
"""The word between the commands of a line."""

PROBE = Path(__file__).with_name("probe.py")
"""Prints the options of a checkout's commands."""


def lines_of(file: Path) -> list[str]:
    """Return the command lines of a file, without empty lines and comments."""
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def commands_of(line: str) -> Iterator[list[str]]:
    """Yield the words of each command of a line."""
    words: list[str] = []
    for word in [*shlex.split(line), NEXT]:
        if word == NEXT:
            yield words
            words = []
        else:
            words.append(word)


def done(line: str, folder: Path, checkout: Checkout) -> dict[str, str]:
    """Run a line in a new folder; return what is compared, by name."""
    shutil.rmtree(folder, ignore_errors=True)
    inputs.write(folder)
    before = {file: file.read_bytes() for file in _files(folder)}
    found = {}
    for number, words in enumerate(commands_of(line), 1):
        ended = checkout.run(words, folder)
        found[f"command {number}, status"] = f"{ended.status}\n"
        found[f"command {number}, standard output"] = steady(ended.output)
        found[f"command {number}, standard error"] = steady(ended.errors)
    for file in _files(folder):
        if before.get(file) != file.read_bytes() and not JOURNALS.fullmatch(file.name):
            found[f"file {file.relative_to(folder)}"] = content(file)
    shutil.rmtree(folder)
    own = {
        str(Path(sys.executable).parent): "BIN",
        str(checkout.checkout): "CHECKOUT",
        str(checkout.place): "PROGRAMS",
    }
    for path, name in own.items():
        found = {title: text.replace(path, name) for title, text in found.items()}
    return found


def _files(folder: Path) -> list[Path]:
    """Return the files in a folder and in its folders."""
    return sorted(file for file in folder.rglob("*") if file.is_file())


def differences(old: dict[str, str], new: dict[str, str]) -> Iterator[str]:
    """Yield the lines in which two runs of a command line differ."""
    for title in [*old, *(title for title in new if title not in old)]:
        texts = [_ended(side.get(title, "(is not there)\n")) for side in (old, new)]
        if texts[0] != texts[1]:
            yield f"  {title}:"
            sides = [text.splitlines() for text in texts]
            changes = [*unified_diff(*sides, "old", "new", n=1, lineterm="")]
            yield from (f"    {change}" for change in changes[2:])


def _ended(text: str) -> str:
    """Return a text whose last line shows if it has no end."""
    return text if not text or text.endswith("\n") else f"{text}(no line feed)"


def used_in(lines: Iterable[str], known: dict[str, list[list[str]]]) -> dict[str, set[str]]:
    """Return by command the words that may be its options; a command may stand in another one."""
    used: dict[str, set[str]] = defaultdict(set)
    for line in lines:
        for words in commands_of(line):
            options = {word.split("=")[0] for word in words if word.startswith("-")}
            if options & {"--progress", "--no-progress"}:
                options.add("--progress-as")  # what --progress json is read as
            for at, word in enumerate(words):
                for name in (word, " ".join(words[at : at + 2])):
                    if name in known and (at == 0 or words[0] in ("launch", "predict")):
                        used[name] |= options
    return used


def unused(lines: Iterable[str], known: dict[str, list[list[str]]]) -> Iterator[str]:
    """Yield a sentence on each command and each option that no line uses."""
    used = used_in(lines, known)
    for command, options in known.items():
        if command not in used:
            yield f"No line uses {command}."
        for spellings in options:
            if command in used and not used[command].intersection(spellings):
                yield f"No line uses {command} {'|'.join(spellings)}."


def main() -> int:
    """Compare two checkouts; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("old", type=Path, help="folder of a checkout")
    parser.add_argument("new", type=Path, help="folder of a checkout")
    parser.add_argument("--only", default="", metavar="WORD", help="lines that match, alone")
    parser.add_argument("--jobs", type=int, default=2, help="lines at the same time (2)")
    parser.add_argument("--real", action="store_true", help="start each command, fork none")
    parser.add_argument("--lines", type=Path, default=LINES, metavar="FILE", help="other lines")
    options = parser.parse_args()
    lines = lines_of(options.lines)
    chosen = [line for line in lines if re.search(options.only, line)]
    with TemporaryDirectory(prefix="commandlines-") as name:
        place = Path(name).resolve()
        sides = {
            each: Checkout(getattr(options, each), place / each, options.real)
            for each in ("old", "new")
        }

        def compared(numbered: tuple[int, str]) -> list[str]:
            number, line = numbered
            folder = place / f"line-{number}"
            return [*differences(*(done(line, folder, side) for side in sides.values()))]

        with ThreadPoolExecutor(options.jobs) as pool:
            differing = 0
            for line, found in zip(chosen, pool.map(compared, enumerate(chosen)), strict=True):
                if found:
                    differing += 1
                    print("\n".join([f"mpinet {line}", *found]), flush=True)
        missing = []
        if not options.only:
            known = json.loads(sides["new"].python(PROBE.read_text(encoding="utf-8")))
            missing = [*unused(lines, known)]
        for side in sides.values():
            side.end()
    print("\n".join([*missing, f"{len(chosen)} lines compared, {differing} differ."]))
    return int(bool(differing or missing))


if __name__ == "__main__":
    sys.exit(main())
