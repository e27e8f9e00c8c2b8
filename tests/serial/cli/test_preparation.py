"""What commands find out before the run is not found out again in it."""

from contextlib import redirect_stdout
from io import StringIO

import pytest

from mpinet.cli.session import CommandSession
from mpinet.networks.classic.hypercube import Hypercube
from mpinet.networks.schedule import Schedule


@pytest.mark.parametrize("command", ["broadcast hypercube:4", "reduce hypercube:4"])
def test_schedules_that_are_not_taken_are_made_once(
    monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    made, schedules = [], Hypercube.schedules

    def two(cube: Hypercube, root: int) -> dict:
        def make(name: str) -> Schedule:
            made.append(name)
            return schedules(cube, root)["binomial"]()

        return {"taken": lambda: make("taken"), "other": lambda: make("other")}

    monkeypatch.setattr(Hypercube, "schedules", two)
    with redirect_stdout(StringIO()) as out:
        assert CommandSession(command.split()).run() == 0
    assert "taken" in out.getvalue()
    assert made.count("other") == 1
