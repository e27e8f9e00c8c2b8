"""mpinet exec with installed packages: which of them it can share, and which it refuses."""

import os
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from launch.conftest import CHECKOUT, ONE_OR_MORE, in_turn_on

ASKING = "from mpi4py import MPI\nrank = MPI.COMM_WORLD.Get_rank()\nsize = MPI.COMM_WORLD.size\n"

HIDDEN = "import sys\nrank = sys.modules['ask' + 'ing'].MPI.COMM_WORLD.{call}\n"

REACHING = {
    "a package that asks by another for the rank": (
        {"asking.py": ASKING, "hidden.py": HIDDEN.format(call="rank")},
        "import asking, hidden; print(hidden.rank)",
        "0\n1\n2\n",
    ),
    "a package that calls by another, and catches all": (
        {
            "asking.py": ASKING,
            "hidden.py": "try:\n    import hidden_calls\nexcept BaseException: pass\n",
            "hidden_calls.py": HIDDEN.format(call="allgather(sys.modules['asking'].rank)"),
        },
        "import asking, hidden, hidden_calls; print(hidden_calls.rank)",
        "[0, 1, 2]\n" * 3,
    ),
    "a part of a shared package that imports one that asks": (
        {
            "asking.py": ASKING,
            "shared/__init__.py": "",
            "shared/part.py": "asking = __import__('ask' + 'ing')\n",
        },
        "import shared; MPI.COMM_WORLD.barrier(); import shared.part as p; print(p.asking.rank)",
        "0\n1\n2\n",
    ),
}


@pytest.fixture
def libraries(tmp_path, monkeypatch):
    """A folder where packages are installed for this user alone."""
    monkeypatch.setenv("PYTHONUSERBASE", str(tmp_path / "user"))
    scheme = sysconfig.get_preferred_scheme("user")
    folder = Path(sysconfig.get_path("purelib", scheme, {"userbase": str(tmp_path / "user")}))
    folder.mkdir(parents=True)
    monkeypatch.setenv("PYTHONPATH", str(folder))  # where an environment leaves the user's out
    return folder


def install(folder, files):
    for name, text in files.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)


def ran(folder, ranks, script):
    """What becomes of a script on three processors."""
    (folder / "script.py").write_text(f"from mpi4py import MPI\n{script}\n")
    command = [CHECKOUT / "launch/run", "-n", str(ranks), "mpinet", "exec", "--on", "ring:3"]
    return subprocess.run(
        [*command, "script.py"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        env=os.environ,
    )


@pytest.mark.parametrize("ranks", [1, 3])
def test_an_installed_package_finds_the_rank_of_each_processor(tmp_path, libraries, ranks):
    install(libraries, {"asking.py": ASKING})
    done = ran(tmp_path, ranks, "import asking; print(asking.rank, asking.size)")
    assert done.stdout.startswith("0 3\n1 3\n2 3\n"), done.stderr


@pytest.mark.parametrize(("ranks", "case"), in_turn_on([1, 3], REACHING))
def test_what_reaches_mpi_by_way_of_others_is_each_processors_own(tmp_path, libraries, ranks, case):
    files, script, printed = REACHING[case]
    install(libraries, files)
    done = ran(tmp_path, ranks, script)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(printed)


COMPILED = """
#include <Python.h>

static PyObject *rank;

static PyObject *told(PyObject *self, PyObject *nothing) { Py_INCREF(rank); return rank; }

static PyMethodDef methods[] = {{"told", told, METH_NOARGS, ""}, {NULL}};

static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "compiled", "", -1, methods};

PyMODINIT_FUNC PyInit_compiled(void)
{
    PyObject *mpi = PyImport_ImportModule("mpi4py.MPI");
    PyObject *world = mpi ? PyObject_GetAttrString(mpi, "COMM_WORLD") : NULL;
    rank = world ? PyObject_CallMethod(world, "Get_rank", NULL) : NULL;
    return rank ? PyModule_Create(&module) : NULL;
}
"""


@ONE_OR_MORE
def test_compiled_code_that_asks_for_its_rank_when_imported_is_refused(tmp_path, libraries, ranks):
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None or not Path(sysconfig.get_path("include"), "Python.h").exists():
        pytest.skip("no C compiler, or no headers of Python")
    (tmp_path / "compiled.c").write_text(COMPILED)
    library = libraries / f"compiled{sysconfig.get_config_var('EXT_SUFFIX')}"
    include = f"-I{sysconfig.get_path('include')}"
    subprocess.run(
        [compiler, "-shared", "-fPIC", include, "compiled.c", "-o", library],
        cwd=tmp_path,
        check=True,
    )
    done = ran(tmp_path, ranks, "import compiled")
    assert done.returncode == 1
    assert "The compiled module compiled uses MPI during its import" in done.stderr
