"""The rooms of the package: who may import whom (the contracts are in pyproject.toml)."""

import ast
import subprocess
import sys
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
from serial.native.jobs import objects, ran
from trees import nodes_of

CHECKOUT = Path(__file__).resolve().parents[2]
HEAVY = {"mpi4py", "numba", "networkx", "matplotlib", "rich"}


def test_imports_keep_to_the_layers() -> None:
    check = "from importlinter.cli import lint_imports; raise SystemExit(lint_imports())"
    done = subprocess.run(
        [sys.executable, "-c", check], cwd=CHECKOUT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("module", ["mpinet", "mpinet.cli", "mpinet.errors"])
def test_heavy_libraries_wait_until_they_are_used(module: str) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert HEAVY & set(done.stdout.split()) == set()


@pytest.mark.parametrize("tier", ["wait", "background", "never"])
def test_no_job_imports_the_compiler(tier: str, tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from mpinet.cli.session import CommandSession\n"
        "assert CommandSession(['show', 'ring:60', '--distances', '--json']).run() == 0\n"
        "print(*{name.partition('.')[0] for name in sys.modules})"
    )
    done = ran("-c", program, tier=tier, MPINET_CACHE=tmp_path)
    assert done.returncode == 0, done.stderr
    loaded = set(done.stdout.splitlines()[-1].split())
    assert {"mpinet", "numpy"} <= loaded and not loaded & {"numba", "scipy"}
    assert (len(objects(tmp_path)) > 0) == (tier == "wait") == ("llvmlite" in loaded)


def test_the_compiler_alone_imports_numba_and_llvmlite() -> None:
    importers: dict[str, set[str]] = {"numba": set(), "llvmlite": set()}
    for name, path in modules(CHECKOUT).items():
        for node in nodes_of(path.read_text()):
            if isinstance(node, ast.Import):
                sources = [each.name for each in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                sources = [node.module or ""]
            else:
                continue
            for source in sources:
                importers.get(source.partition(".")[0], set()).add(name)
    compiling = {each for each in importers["numba"] if each.startswith("mpinet.compiler.")}
    assert importers["numba"] == compiling != set()
    others = {each for each in importers["llvmlite"] if not each.startswith("mpinet.compiler.")}
    assert others == {"mpinet.base.native.kept"}


def modules(root: Path) -> dict[str, Path]:
    """The names and files of all modules of the package in a folder."""
    paths = {path.relative_to(root).with_suffix(""): path for path in root.glob("mpinet/**/*.py")}
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in paths.items()}


def imported(name: str, path: Path, names: set[str]) -> set[str]:
    """The modules that a module imports anywhere, also for type checkers and within functions."""
    found = set()
    above = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
    for node in nodes_of(path.read_text()):
        if isinstance(node, ast.Import):
            found |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom):
            rooms = above[: len(above) + 1 - node.level] if node.level else []
            source = ".".join([*rooms, *filter(None, [node.module])])
            full = {f"{source}.{each.name}" for each in node.names}
            found |= full & names if full <= names else full & names | {source}
    return found & names - {name}


def circle(root: Path) -> list[str]:
    """Modules of which each needs the one before, the first and the last being the same."""
    files = modules(root)
    graph = {name: imported(name, path, files.keys()) for name, path in files.items()}
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


def test_no_module_needs_itself_however_it_is_imported() -> None:
    assert len(modules(CHECKOUT)) > 900
    assert " <- ".join(circle(CHECKOUT)) == ""


@pytest.mark.parametrize(
    "planted",
    [
        "from mpinet.room.high import thing",
        "from mpinet.room import high",
        "import mpinet.room.high",
        "from . import high",
        "from .high import thing",
        "from ..room.high import thing",
        "if TYPE_CHECKING:\n    from mpinet.room.high import thing",
        "def use():\n    from mpinet.room.high import thing",
        "class Use:\n    def use(self):\n        import mpinet.room.high as high",
    ],
)
def test_a_circle_of_imports_is_found_however_it_is_closed(planted: str, tmp_path: Path) -> None:
    room = tmp_path / "mpinet" / "room"
    room.mkdir(parents=True)
    for file in (room.parent / "__init__.py", room / "__init__.py"):
        file.write_text("from mpinet.room.high import thing\n")
    (room / "high.py").write_text("from mpinet.room.middle import thing\n")
    (room / "middle.py").write_text("from mpinet.room import low\n")
    (room / "low.py").write_text("thing = 0\n")
    assert circle(tmp_path) == []
    (room / "low.py").write_text(f"{planted}\n")
    assert set(circle(tmp_path)) == {f"mpinet.room.{each}" for each in ("high", "middle", "low")}


@pytest.mark.parametrize("planted", ["from mpinet.room import thing", "import mpinet.room"])
def test_a_room_that_its_own_module_needs_is_a_circle(planted: str, tmp_path: Path) -> None:
    room = tmp_path / "mpinet" / "room"
    room.mkdir(parents=True)
    (room / "__init__.py").write_text("from mpinet.room.low import thing\n")
    (room / "low.py").write_text(f"def use():\n    {planted}\n")
    assert set(circle(tmp_path)) == {"mpinet.room", "mpinet.room.low"}
