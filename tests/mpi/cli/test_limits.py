"""What is too large for the hosts is one sentence with both numbers, on any number of ranks."""

import re
from pathlib import Path

import pytest

from mpinet import memory
from mpinet.cli.session import Session
from mpinet.launched import launched_rank

THERE_IS = 2**34  # bytes on every host of these tests

ECHO = """
def echo(node):
    yield node.exchange(node.ports, node.id)
"""

TOO_LARGE = {
    "broadcast torus:2147483648x3": (48.0, "GiB"),
    "reduce torus:2147483648x3": (48.0, "GiB"),
    "run {echo} --on lens:3,2,57": (149.9, "EiB"),
    "exec --on torus:2147483647x2 -c pass": (31.9, "TiB"),
    "route gbsn:1,m=4-4-2147483648-2,a=1 --paths": (48.0, "GiB"),
    "route fattree:65,3 --pairs all": (1.6, "TiB"),
    "route hypercube:28 --loads --pairs random:1": (28.0, "GiB"),
}
"""What the ranks need together: a little more where processors do not divide among them."""


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program's file, and hosts of `THERE_IS` bytes without a limit for a process."""
    monkeypatch.setattr(memory, "host_memory", lambda: THERE_IS)
    monkeypatch.setattr(memory, "process_limit", lambda: THERE_IS)
    (tmp_path / "echo.py").write_text(ECHO)
    return f"{tmp_path}/echo.py:echo"


@pytest.mark.parametrize("command", TOO_LARGE)
def test_what_does_not_fit_is_refused_with_both_numbers(
    command: str, echo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = Session(command.format(echo=echo).split()).run()
    told = capsys.readouterr().err
    assert status == 2
    if launched_rank() == 0:
        assert len(told.splitlines()) == 1
        said = re.search(r" ([\d.]+) (.iB) of memory or more, and there are 16.0 GiB here", told)
        assert said is not None
        needed, unit = TOO_LARGE[command]
        assert (float(said[1]), said[2]) == (pytest.approx(needed, rel=0.01), unit)


@pytest.mark.parametrize("command", ["scatter", "gather"])
def test_what_cannot_be_flooded_is_refused_with_both_numbers(
    command: str, echo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the memory of several ranks would do, a walk over all ports would not end."""
    status = Session([command, "torus:2147483648x3"]).run()
    told = capsys.readouterr().err
    assert status == 2
    if launched_rank() == 0:
        assert len(told.splitlines()) == 1
        assert "25,769,803,776 ports" in told or " 48.0 GiB of memory" in told


def test_a_step_with_too_many_messages_is_refused(
    echo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "host_memory", lambda: 2**20)
    status = Session(f"run {echo} --on complete:128".split()).run()
    told = capsys.readouterr().err
    assert status == 2
    if launched_rank() == 0:
        assert "Step 1, in which a rank's processors send" in told
