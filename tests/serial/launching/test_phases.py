"""The phases of launch/test: in their order, some beside others, and none outlives it."""

import argparse
import signal
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parents[3]
OPTIONS = argparse.Namespace(long=False, only=None, ranks=None, coverage=False, mpi=None)


@pytest.fixture
def phases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """launch/test, whose logs go elsewhere."""
    loader = SourceFileLoader("launch_test", str(CHECKOUT / "launch/test"))
    spec = spec_from_loader(loader.name, loader)
    assert spec is not None
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, loader.name, module)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    loader.exec_module(module)
    monkeypatch.setattr(module, "LOGS", tmp_path / "logs")
    monkeypatch.setattr(module, "CHECKOUT", tmp_path)
    return module


def shell(phases: ModuleType, name: str, script: str) -> Any:
    """A phase that runs a script of shell instead of pytest."""
    return phases.Phase(name, ["sh", "-c", script])


def names(lanes: list[list[Any]]) -> list[list[str]]:
    return [[phase.name for phase in lane] for lane in lanes]


def test_faults_and_cluster_run_beside_launch_and_all_else_by_itself(phases):
    wanted = phases.wanted_phases(OPTIONS, [])
    stages = [names(lanes) for lanes in phases.stages(wanted, OPTIONS)]
    alone = [[[name]] for name in ("serial", "mpi-1", "mpi-2", "mpi-3", "mpi-8")]
    assert stages == [*alone, [["launch"], ["faults", "cluster"]]]
    whole = argparse.Namespace(**{**vars(OPTIONS), "long": True})
    wanted = phases.wanted_phases(whole, [])
    assert [names(lanes) for lanes in phases.stages(wanted, whole)] == [[[p.name]] for p in wanted]
    one = argparse.Namespace(**{**vars(OPTIONS), "only": "cluster"})
    assert [phase.name for phase in phases.wanted_phases(one, [])] == ["cluster"]


def test_lanes_run_beside_each_other_and_the_phases_of_a_lane_do_not(phases, capsys):
    long = shell(phases, "launch", "until [ -e second ]; do sleep 0.01; done")
    first = shell(phases, "faults", "[ ! -e second ] && touch first; exit 3")
    second = shell(phases, "cluster", "[ -e first ] && touch second")
    phases.run([long], [], [first, second])
    assert [phase.status for phase in (long, first, second)] == [0, 3, 0]
    assert [phase.failed for phase in (long, first, second)] == [0, 1, 0]
    assert capsys.readouterr().out.split() == "== launch == faults == cluster".split()
    assert phases.summarise([long, first, second]) == 1


def test_a_phase_is_ended_at_its_time_limit(phases, monkeypatch):
    monkeypatch.setitem(phases.TIME_LIMITS, "launch", 0)
    phase = shell(phases, "launch", "exec sleep 999")
    phases.run([phase])
    assert (phase.status, phase.failed) == (-signal.SIGTERM, 1)
    assert "ended at the time limit of 0 s" in (phase.logs / "rank0.log").read_text()


def test_all_phases_end_where_launch_test_is_interrupted(phases, monkeypatch):
    running = [shell(phases, name, "exec sleep 999") for name in ("launch", "faults")]
    later = shell(phases, "cluster", "touch never")

    def interrupted(_: float) -> None:
        raise KeyboardInterrupt

    clock = SimpleNamespace(monotonic=phases.time.monotonic, sleep=interrupted)
    monkeypatch.setattr(phases, "time", clock)
    with pytest.raises(KeyboardInterrupt):
        phases.run([running[0]], [running[1], later])
    assert [phase.process.poll() for phase in running] == [-signal.SIGTERM] * 2
    assert later.process is None
