"""The names of the package: all there, loaded where first used; a missing library is named."""

import subprocess
import sys
from types import ModuleType

import pytest

from mpinet import measure
from mpinet.errors import UsageError
from mpinet.measure.libraries import library


def test_every_name_is_there():
    for name in measure.__all__:
        assert not isinstance(getattr(measure, name), ModuleType), name
        assert name in dir(measure)


def test_a_name_that_is_not_there_is_an_error():
    with pytest.raises(AttributeError, match="no attribute 'girth'"):
        measure.girth  # noqa: B018


def test_libraries_wait_until_they_are_used():
    program = "import sys, mpinet.measure; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert {"numba", "igraph", "ortools", "networkx", "numpy"} & set(done.stdout.split()) == set()


def test_a_missing_library_is_named_with_the_command_that_installs_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "igraph", None)
    with pytest.raises(UsageError, match=r'igraph: pip install "mpinet\[measure\]"'):
        library("igraph")
    with pytest.raises(UsageError, match=r'pip install "mpinet\[measure\]"'):
        measure.vertex_transitive("ring:5")
