"""Which test files a change can break, the nearest first.

A test file is near a changed file if few imports lie between them. Imports are read off the code,
those within functions and those by a module's name, too. The names that ``import mpinet`` gives
lead straight to the modules that define them. Tables hide some imports (of networks, of commands),
so a test file is also near if it names the changed file, or lies in the folder of its room.
"""

import ast
import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

IMPORT = re.compile(r"(?m)^from (\S+) import (\w+) as")
"""A line of a stub."""

FACE = "mpinet/__init__.py"
"""Imports nothing by itself: what a file takes from it leads to where that is defined."""

FEW = 12
"""A name that stands in more test files than this is a common word, and leads nowhere."""

SAME_ROOM = 2
"""Imports that being in the folder of the changed file's room is worth."""


def changed_files(checkout: Path, since: str) -> set[str]:
    """Paths that differ from the commit `since`, and those that git does not know yet."""
    names = set()
    for command in (["diff", "--name-only", since], ["ls-files", "--others", "--exclude-standard"]):
        told = subprocess.run(["git", *command], cwd=checkout, capture_output=True, text=True)
        if told.returncode:
            raise ValueError(told.stderr.partition("\n")[0])
        names.update(told.stdout.split("\n"))
    return names - {""}


def near_tests(checkout: Path, changed: Iterable[str]) -> dict[str, int]:
    """Imports between the changed files and each test file that depends on them, fewest first."""
    changed = set(changed)
    files = {
        str(path.relative_to(checkout)): _with_stub(path)
        for folder in ("mpinet", "tests")
        for path in sorted((checkout / folder).rglob("*.py"))
    }
    tests = {name: text for name, text in files.items() if Path(name).name.startswith("test_")}
    near = _imports_between(_importers(files), changed & files.keys())
    for name in changed:
        for test in _naming(name, tests):
            near[test] = min(near.get(test, 1), 1)
        for test in _of_room(name, tests):
            near[test] = min(near.get(test, SAME_ROOM), SAME_ROOM)
    return {
        test: near[test]
        for test in sorted(near, key=lambda test: (near[test], test))
        if test in tests
    }


def _with_stub(path: Path) -> str:
    """The text of a file, and of its stub, which names the modules of a room's public names."""
    stub = path.with_suffix(".pyi")
    return path.read_text() + ("\n" + stub.read_text() if stub.exists() else "")


def _imports_between(importers: dict[str, set[str]], changed: set[str]) -> dict[str, int]:
    """For each file that depends on a changed one, the fewest imports from it to there."""
    near = dict.fromkeys(sorted(changed), 0)
    for name in (front := list(near)):  # grows: breadth first
        for importer in sorted(importers[name] - near.keys()):
            near[importer] = near[name] + 1
            front.append(importer)
    return near


def _naming(changed: str, tests: dict[str, str]) -> list[str]:
    """The test files in which a file's name stands, if these are few."""
    path = Path(changed)
    name = path.stem if path.suffix == ".py" else str(path) if not path.suffix else path.name
    word = re.compile(rf"\b{re.escape(name)}\b")
    naming = [test for test, text in tests.items() if word.search(text)]
    return naming if len(naming) <= FEW else []


def _of_room(changed: str, tests: dict[str, str]) -> list[str]:
    """The test files of a file's room: mpinet/ROOM/.., tests/*/ROOM/.., launch/.., docs/.."""
    parts = Path(changed).parts
    if parts[0] == "docs":
        return [test for test in tests if Path(test).name in ("test_docs.py", "test_pages.py")]
    if parts[0] == "launch":
        return [test for test in tests if test.startswith("tests/launch/")]
    room = {"mpinet": parts[1:2], "tests": parts[2:3]}.get(parts[0])
    return [test for test in tests if Path(test).parts[2:-1][:1] == room]


def _importers(files: dict[str, str]) -> dict[str, set[str]]:
    """For each file, the files that import it."""
    modules = {_module(name): name for name in files}
    trees = {name: ast.parse(text) for name, text in files.items()}
    public = {
        name: modules.get(f"{home}.{name}", modules[home])
        for home, name in IMPORT.findall(files[FACE])
        if home in modules
    }
    importers = defaultdict(set)
    for name, tree in trees.items():
        if name == FACE:
            continue
        for imported in _imported(tree, modules, public):
            importers[imported].add(name)
    return importers


def _module(name: str) -> str:
    """The name by which a file is imported; tests are imported from their own folder."""
    path = Path(name).with_suffix("")
    parts = path.parts[1:] if path.parts[0] == "tests" else path.parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def _imported(tree: ast.Module, modules: dict[str, str], public: dict[str, str]) -> Iterator[str]:
    """The files that a module imports, some of them more than once."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names = [f"{node.value.id}.{node.attr}"]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            names = [node.value]  # modules that are imported by their name
        else:
            continue
        for name in names:
            name = name.partition(":")[0]
            package, _, last = name.rpartition(".")
            if package == "mpinet" and last in public:
                yield public[last]
            elif name in modules and modules[name] != FACE:
                yield modules[name]
