"""Installed packages: those that use mpi4py are each processor's own, others are shared."""

import importlib
import sys
from textwrap import dedent

import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import played

from mpinet.mpi.world import installed

pytestmark = pytest.mark.mpi

ASKING = """
from mpi4py import MPI

rank = MPI.COMM_WORLD.Get_rank()
calls = []
"""

LAZY = """
rank = None

def my_rank():
    global rank
    if rank is None:
        from mpi4py import MPI
        rank = MPI.COMM_WORLD.rank
    return rank
"""

PLAIN = """
calls = []
"""


@pytest.fixture
def libraries(tmp_path, monkeypatch):
    """A function that installs packages, given the texts of their files, as pip does."""
    folder = tmp_path / "site-packages"
    folder.mkdir()
    places = (*installed.INSTALLED, f"{folder.resolve()}/")
    monkeypatch.setattr(installed, "INSTALLED", places)
    monkeypatch.syspath_prepend(str(folder))
    installed.is_library.cache_clear()
    before = set(sys.modules)

    def install(files, **requirements):
        for name, text in files.items():
            (folder / name).parent.mkdir(exist_ok=True)
            (folder / name).write_text(dedent(text))
        for name, lines in requirements.items():
            about = folder / f"{name}-1.0.dist-info"
            about.mkdir()
            required = "".join(f"Requires-Dist: {line}\n" for line in lines)
            about.joinpath("METADATA").write_text(f"Name: {name}\nVersion: 1.0\n{required}")
            record = "".join(f"{one},,\n" for one in files if one.startswith(name))
            about.joinpath("RECORD").write_text(record)
        importlib.invalidate_caches()

    yield install
    installed.is_library.cache_clear()
    for name in set(sys.modules) - before:
        if str(folder) in str(getattr(sys.modules[name], "__file__", "")):
            del sys.modules[name]


def marks(module, network="ring:7"):
    """A script that puts each processor's mark into a module's list, and says what is there."""
    return f"""
        from {module} import calls

        calls.append(rank)
        comm.barrier()
        say(rank in calls and len(calls) == 1)
    """


def test_a_package_that_asks_for_its_rank_when_imported_gets_its_processors(tmp_path, libraries):
    libraries({"asking/__init__.py": "", "asking/ranks.py": ASKING})
    script = """
        from asking import ranks
        import asking.ranks as again

        comm.barrier()
        import asking
        say((ranks.rank, again is ranks, asking.ranks is ranks))
    """
    said, _ = played(tmp_path, "torus:3x3", script)
    assert said == {rank: [(rank, True, True)] for rank in range(9)}


def test_a_package_that_imports_mpi4py_when_it_needs_it_keeps_each_processors_state(
    tmp_path, libraries
):
    libraries({"lazily.py": LAZY})
    script = """
        import lazily

        comm.barrier()
        say(lazily.my_rank())
    """
    said, _ = played(tmp_path, "hypercube:3", script)
    assert said == {rank: [rank] for rank in range(8)}


@pytest.mark.parametrize(
    ("files", "requirements"),
    [
        ({"user.py": "import used\ncalls = []", "used.py": ASKING}, {}),
        (
            {
                "user.py": "from importlib import import_module\n"
                "import_module('us' + 'ed')\ncalls = []",
                "used.py": ASKING,
            },
            {},
        ),
        ({"user.py": PLAIN}, {"user": ["numpy", "mpi4py>=3"]}),
        ({"user.py": PLAIN}, {"user": ['MPI4Py; extra == "mpi"']}),
        ({"user.py": PLAIN}, {"user": ["the_Used"], "the-used": ["mpi4py"]}),
        (
            {"user.py": "def work(): import used\ncalls = []", "used.py": PLAIN},
            {"used": ["mpi4py"]},
        ),
    ],
    ids=[
        "imports one that imports mpi4py",
        "loads one that imports mpi4py",
        "requires mpi4py",
        "requires mpi4py for an extra",
        "requires one that requires mpi4py",
        "may import one that requires mpi4py",
    ],
)
def test_packages_that_use_mpi4py_by_others_are_each_processors_own(
    tmp_path, libraries, files, requirements
):
    libraries(files, **requirements)
    said, _ = played(tmp_path, "ring:7", marks("user"))
    assert said == {rank: [True] for rank in range(7)}


@pytest.mark.parametrize(
    ("files", "requirements"),
    [
        ({"shared.py": f"'''\nimport mpi4py  # mpi4py is not used\n'''{PLAIN}"}, {}),
        ({"shared.py": PLAIN}, {"shared": ["numpy", 'other; extra == "mpi"'], "other": ["mpi4py"]}),
    ],
    ids=["names mpi4py", "requires for an extra one that requires mpi4py"],
)
def test_other_packages_are_loaded_once_for_all_processors_of_a_rank(
    tmp_path, libraries, files, requirements
):
    libraries(files, **requirements)
    script = """
        import os, shared

        say((os.getpid(), id(shared)))
    """
    said, _ = played(tmp_path, "ring:8", script)
    assert len({place for (place,) in said.values()}) == transport().size


def test_nothing_is_searched_for_mpi4py_where_only_pythons_own_modules_are_imported(
    tmp_path, libraries, monkeypatch
):
    searched = []
    monkeypatch.setattr(installed, "_imports", lambda top, names: bool(searched.append(top)))
    monkeypatch.setattr(installed, "distributions", lambda: searched.append("all") or [])
    libraries({"shared.py": PLAIN})
    played(tmp_path, "ring:3", "import colorsys, numpy.ma.mrecords")
    assert searched == []
    played(tmp_path, "ring:3", "import shared")
    assert searched == ["all", "shared"]
