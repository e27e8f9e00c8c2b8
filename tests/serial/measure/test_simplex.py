"""The linear programs of class certificates, solved in a process of their own."""

import importlib.util
import subprocess

import numpy as np
import pytest

from mpinet.measure.optimum import simplex


def at_most(bound: float) -> dict:
    """A program of one variable between 0 and the bound."""
    return {
        "columns": 1,
        "plain": 0,
        "begin": np.array([0, 1], np.int32),
        "index": np.array([0], np.int32),
        "value": np.array([1.0]),
        "lower": np.array([0.0]),
        "upper": np.array([bound]),
    }


def test_duals_of_a_program_of_one_row():
    """The largest x with x <= 1/2 is 1/2, and grows by 1 for each unit of the row's bound."""
    assert simplex.duals(at_most(0.5), 5) == pytest.approx([1.0])
    assert simplex.duals(at_most(2.0), 5) is None


def test_what_the_library_prints_is_not_taken_for_the_answer(tmp_path, monkeypatch):
    """HiGHS 1.16 prints its banner with output switched off."""
    found = importlib.util.find_spec("highspy")
    (tmp_path / "highspy.py").write_text(
        "import os, sys, importlib.util\n"
        "os.write(1, b'Running a solver\\n')\n"
        "print('that prints', flush=True)\n"
        f"spec = importlib.util.spec_from_file_location('highspy', {found.origin!r},\n"
        f"    submodule_search_locations={[*found.submodule_search_locations]!r})\n"
        "sys.modules['highspy'] = module = importlib.util.module_from_spec(spec)\n"
        "spec.loader.exec_module(module)\n"
    )
    run = subprocess.run

    def with_the_chatty_library(command, **others):
        python, isolated, program = command
        started = f"import sys, runpy; sys.path.insert(0, {str(tmp_path)!r}); "
        started += f"runpy.run_path({program!r}, run_name='__main__')"
        done = run([python, isolated, "-c", started], **others)
        assert b"Running a solver" in done.stderr
        return done

    monkeypatch.setattr(simplex.subprocess, "run", with_the_chatty_library)
    assert simplex.duals(at_most(0.5), 5) == pytest.approx([1.0])
