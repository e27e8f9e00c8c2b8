"""A sweep that is killed goes on where it was, on other numbers of ranks, to the same table."""

import json
from pathlib import Path

import pytest
from launch.conftest import OWN_LIBRARY, Launch

from mpinet.cli.session import CommandSession

DEADLY = """
import os, signal, time

DEADLY = int(os.environ["DEADLY"])

def visit(node, number):
    if node.id == 0 and number == DEADLY:
        os.kill(os.getpid(), signal.SIGKILL)
    if node.id == 0 and number > DEADLY:
        time.sleep(100)
    yield node.send(number % 2, number)
    return (yield node.receive((number + 1) % 2))
"""
"""At one of its points the process is killed; other ranks do not come far behind it."""

POINTS = 14


@OWN_LIBRARY
@pytest.mark.usefixtures("forked")
def test_a_sweep_killed_twice_gives_the_table_of_one_that_was_not(
    launch: Launch, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture
) -> None:
    (tmp_path / "deadly.py").write_text(DEADLY)
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"command = 'run'\nprogram = '{tmp_path}/deadly.py:visit'\ntopology = 'ring:4'\n"
        f"arguments = [{', '.join(f'[{number}]' for number in range(POINTS))}]\n"
    )
    sweep = ("mpinet", "sweep", plan, "--json", "--out")
    for ranks, deadly in ((2, "5"), (3, "9")):
        assert launch(ranks, *sweep, tmp_path / "runs", DEADLY=deadly).returncode != 0
        assert not (tmp_path / "runs/results.csv").exists()
    monkeypatch.setenv("DEADLY", str(POINTS))
    monkeypatch.setenv("PYTHONHASHSEED", "0")  # as commands of themselves start again
    assert CommandSession([*map(str, sweep[1:]), f"{tmp_path}/runs"]).run() == 0
    assert json.loads(capsys.readouterr().out)["result"]["computed"] < POINTS - 5
    assert CommandSession([*map(str, sweep[1:]), f"{tmp_path}/whole"]).run() == 0
    tables = [(tmp_path / folder / "results.csv").read_bytes() for folder in ("runs", "whole")]
    assert tables[0] == tables[1]
    assert tables[0].count(b"\r\n") == 1 + 4 * POINTS
