"""Installed packages: those whose import reaches mpi4py are each processor's, others shared."""

import importlib
import random
import shutil
import sys
from pathlib import Path
from textwrap import dedent

import numba.mviewbuf
import pytest
from mpi.machine.ranks import transport
from mpi.scripts.playing import played

from mpinet.errors import ProgramError, UsageError
from mpinet.mpi.world import installed
from mpinet.mpi.world.process_state import GENERATORS

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
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
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


REGISTERING = """
import atexit

def call_at_end(function):
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    comm.barrier()
    atexit.register(function)
    atexit.register(print, "never")
    atexit.unregister(print)
"""


@pytest.mark.parametrize("early", ["", "from mpi4py import MPI\n"])
def test_what_a_package_that_reaches_mpi4py_registers_is_called_at_its_processors_end(
    tmp_path, libraries, early
):
    libraries({"registering.py": early + REGISTERING})
    script = """
        import registering

        registering.call_at_end(lambda: say(comm.allreduce(rank)))
    """
    said, _ = played(tmp_path, "hypercube:2", script)
    assert said == {rank: [6] for rank in range(4)}


@pytest.mark.parametrize("own", [[], ["plain"]])
def test_processors_load_for_themselves_what_they_are_told_to(tmp_path, libraries, own):
    libraries({"plain/__init__.py": "from plain.lists import calls\n", "plain/lists.py": PLAIN})
    script = """
        import plain

        plain.calls.append(rank)
        comm.barrier()
        say(len(plain.calls) == 1)
        say(plain.lists.calls is plain.calls)
    """
    said, _ = played(tmp_path, "hypercube:3", script, own=own)
    alone = transport().size >= 8  # nobody to share with
    assert said == {rank: [bool(own) or alone, True] for rank in range(8)}


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("nosuch", "no package of that name is installed"),
        ("email.mime", "no package of that name is installed"),
        ("", "no package of that name is installed"),
        ("numba", "the emulator itself uses it"),
        ("rich", "the emulator itself uses it"),
        ("asyncio", "the emulator itself uses it"),
        ("pytest_mpi", "it was loaded before the run"),
        ("compiled", "it is compiled code"),
    ],
)
def test_what_processors_cannot_load_for_themselves_is_refused(tmp_path, libraries, name, why):
    libraries({})
    compiled = Path(numba.mviewbuf.__file__)
    shutil.copy(compiled, tmp_path / "site-packages" / f"compiled{''.join(compiled.suffixes)}")
    importlib.invalidate_caches()
    with pytest.raises(UsageError, match=f"--own {name}: .*{why}"):
        installed.require_own([name])


USED = {"used.py": ASKING}

CALLING = """
def ask():
    from mpi4py import MPI
    return MPI.COMM_WORLD.rank

calls = []
"""

LOADING = """
from importlib import import_module
import_module("us" + "ed")
calls = []
"""

UNSEEN = """
import sys
sys.modules["mpi4py.MPI"].COMM_WORLD.Get_rank()
calls = []
"""


@pytest.mark.parametrize(
    "files",
    [
        {"user.py": f"import used{PLAIN}", **USED},
        {"user.py": LOADING, **USED},
        {"user.py": f"import by_another{PLAIN}", "by_another.py": "import used", **USED},
        {
            "user/__init__.py": "from user.kept import calls\nimport used",
            "user/kept.py": PLAIN,
            **USED,
        },
        {"user.py": f"import asking\nasking.ask(){PLAIN}", "asking.py": CALLING},
        {"user.py": UNSEEN},
    ],
    ids=[
        "imports one that imports mpi4py",
        "loads one that imports mpi4py",
        "imports one by another",
        "has a module that was loaded before",
        "calls a function that imports mpi4py",
        "asks for its rank without an import",
    ],
)
def test_packages_whose_import_reaches_mpi4py_are_each_processors_own(tmp_path, libraries, files):
    libraries(files)
    said, _ = played(tmp_path, "ring:7", marks("user"))
    assert said == {rank: [True] for rank in range(7)}


def test_a_package_that_imports_what_has_reached_mpi4py_before_is_each_processors_own(
    tmp_path, libraries
):
    libraries({"user.py": f"import used\nfrom used import rank{PLAIN}", **USED})
    script = """
        import used
        comm.barrier()
        import user

        user.calls.append(rank)
        comm.barrier()
        say((user.rank, user.calls, user.used is used))
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [(rank, [rank], True)] for rank in range(5)}


def test_what_has_parts_of_a_package_that_then_reaches_mpi4py_has_its_processors(
    tmp_path, libraries
):
    """Otherwise a class would be one thing here, and another one there."""
    libraries(
        {
            "holder.py": "from parted.kinds import Kind",
            "parted/__init__.py": "",
            "parted/kinds.py": "class Kind: pass",
            "parted/ranks.py": ASKING,
        }
    )
    script = """
        import holder, parted.ranks, parted.kinds

        comm.barrier()
        say((holder.Kind is parted.kinds.Kind, parted.ranks.rank))
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [(True, rank)] for rank in range(5)}


def test_a_module_that_reaches_mpi4py_is_each_processors_own_in_a_package_that_is_shared(
    tmp_path, libraries
):
    libraries({"parted/__init__.py": PLAIN, "parted/ranks.py": ASKING, "parted/plain.py": PLAIN})
    script = """
        import os, parted, sys
        shared = parted.calls

        comm.barrier()
        import parted.ranks
        comm.barrier()
        if rank == 0:
            import parted.plain
        comm.barrier()
        import parted.plain

        own = parted.ranks is sys.modules["parted.ranks"]
        say((parted.ranks.rank, own, parted.calls is shared))
        say(parted.plain is sys.modules["parted.plain"])
    """
    said, _ = played(tmp_path, "ring:5", script)
    assert said == {rank: [(rank, True, True), True] for rank in range(5)}


ONCE = """
import sys

if hasattr(sys, "executed_once"):
    raise SystemError("this would end the process")
sys.executed_once = True
"""

CLUSTER = """
from importlib.util import find_spec

def is_there():
    return find_spec("mpi4py") is not None

def my_rank():
    from mpi4py import MPI
    return MPI.COMM_WORLD.Get_rank()
"""


def test_a_package_that_only_may_use_mpi4py_is_executed_once(tmp_path, libraries, monkeypatch):
    """As jax, one file of which asks mpi4py when it is told to."""
    monkeypatch.setattr(sys, "executed_once", True, raising=False)
    del sys.executed_once
    libraries(
        {
            "accelerated/__init__.py": "from accelerated import compiled, clusters",
            "accelerated/compiled.py": ONCE,
            "accelerated/clusters/__init__.py": "from accelerated.clusters import by_mpi",
            "accelerated/clusters/by_mpi.py": CLUSTER,
        },
        accelerated=["numpy", 'mpi4py; extra == "mpi"'],
    )
    script = """
        import accelerated, accelerated.clusters.by_mpi as by_mpi

        comm.barrier()
        say((by_mpi.is_there(), by_mpi.my_rank(), rank))
        comm.barrier()
        import accelerated
        say(accelerated.clusters.by_mpi is by_mpi)
    """
    said, _ = played(tmp_path, "complete:4", script)
    assert said == {rank: [(True, rank, rank), True] for rank in range(4)}


ASKS_LATER = """
rank = None
told = 0

def my_rank():
    global rank
    if rank is None:
        from lazy import hidden
        rank = hidden.ask()
    return rank
"""

HIDDEN = """
comm = None

def ask():
    global comm
    from mpi4py import MPI
    comm = MPI.COMM_WORLD
    return comm.rank
"""


def test_variables_that_a_function_sets_once_it_has_reached_mpi4py_are_each_processors_own(
    tmp_path, libraries
):
    libraries({"lazy/__init__.py": ASKS_LATER, "lazy/hidden.py": HIDDEN})
    script = """
        import lazy

        comm.barrier()
        if rank % 2:
            lazy.my_rank()
        comm.barrier()
        if rank == 2:
            lazy.told = 2
        comm.barrier()
        say((lazy.rank, lazy.my_rank(), lazy.hidden.comm is MPI.COMM_WORLD))
        comm.barrier()
        import lazy.hidden
        say(lazy.hidden.comm is MPI.COMM_WORLD)
    """
    said, _ = played(tmp_path, "ring:7", script)
    assert said == {rank: [(rank if rank % 2 else None, rank, True), True] for rank in range(7)}


def test_compiled_modules_are_executed_once_in_a_package_of_each_processor(tmp_path, libraries):
    libraries({"boxed/__init__.py": "from mpi4py import MPI\nrank = MPI.COMM_WORLD.rank\n"})
    compiled = Path(numba.mviewbuf.__file__)
    shutil.copy(compiled, tmp_path / "site-packages" / "boxed" / compiled.name)
    script = """
        import os
        import boxed.mviewbuf

        comm.barrier()
        say((int(os.readlink("/proc/self")), id(boxed.mviewbuf), boxed.rank))
    """
    said, _ = played(tmp_path, "ring:6", script)
    assert [one for ((_, _, one),) in said.values()] == list(range(6))
    assert len({place[:2] for (place,) in said.values()}) == transport().size


TORCH = """
import random

generator = random.Random()
get_rng_state, set_rng_state = generator.getstate, generator.setstate
manual_seed, seed, rand = generator.seed, generator.seed, generator.random
"""


def test_processors_that_seed_torch_have_generators_of_their_own(tmp_path, libraries, monkeypatch):
    """A package with the name and the functions of torch stands for torch."""
    monkeypatch.setitem(GENERATORS, "torch", None)  # restores the table after the test
    del GENERATORS["torch"]
    libraries({"torch.py": TORCH})
    script = """
        import torch

        torch.manual_seed(rank)
        first = torch.rand()
        comm.barrier()
        say((first, torch.rand()))
    """
    said, _ = played(tmp_path, "ring:4", script)
    draws = [random.Random(rank) for rank in range(4)]
    assert said == {rank: [(draws[rank].random(), draws[rank].random())] for rank in range(4)}


def test_a_compiled_module_is_found_in_a_package_that_its_processor_has_not_loaded(
    tmp_path, libraries
):
    libraries(
        {"outer/__init__.py": "import outer.inner.mviewbuf as found", "outer/inner/__init__.py": ""}
    )
    compiled = Path(numba.mviewbuf.__file__)
    shutil.copy(compiled, tmp_path / "site-packages" / "outer" / "inner" / compiled.name)
    script = """
        import outer

        say((outer.found.__name__, outer.inner.mviewbuf is outer.found))
    """
    said, _ = played(tmp_path, "ring:3", script, own=["outer"])
    assert said == {rank: [("outer.inner.mviewbuf", True)] for rank in range(3)}


@pytest.mark.parametrize(
    ("files", "requirements"),
    [
        ({"shared.py": f"'''\nimport mpi4py  # mpi4py is not used\n'''{PLAIN}"}, {}),
        ({"shared.py": f"def work(): import mpi4py{PLAIN}"}, {}),
        ({"shared.py": f"import __main__{PLAIN}"}, {}),
        ({"shared.py": PLAIN}, {"shared": ["numpy", "mpi4py>=3"]}),
        (
            {"shared.py": f"MAYBE = 'tests'{PLAIN}", "tests/__init__.py": "import mpi4py"},
            {"tests": ["mpi4py"]},
        ),
    ],
    ids=[
        "names mpi4py",
        "may import it",
        "imports the script",
        "requires it",
        "names another's package",
    ],
)
def test_other_packages_are_loaded_once_for_all_processors_of_a_rank(
    tmp_path, libraries, files, requirements
):
    libraries(files, **requirements)
    script = """
        import os, shared

        say((int(os.readlink("/proc/self")), id(shared)))
    """
    said, _ = played(tmp_path, "ring:8", script)
    assert len({place for (place,) in said.values()}) == transport().size


def test_imports_are_pythons_own_again_after_a_run(tmp_path, libraries):
    before = __import__, importlib.import_module
    libraries({"failing.py": "from mpi4py import MPI\nraise ValueError('on purpose')"})
    with pytest.raises(ProgramError, match="on purpose"):
        played(tmp_path, "ring:3", "import failing")
    assert (__import__, importlib.import_module) == before
