"""What is too large for the hosts is one sentence with both numbers, on any number of ranks."""

import re
from pathlib import Path

import pytest

import mpinet
from mpinet.base import memory
from mpinet.base.launched import launched_rank, launched_ranks
from mpinet.cli.commands import parse
from mpinet.cli.session import CommandSession
from mpinet.errors import TooLarge, UsageError
from mpinet.jobs import module_of
from mpinet.machine import room

THERE_IS = 2**34  # bytes on every host of these tests

ECHO = """
def echo(node):
    yield node.exchange(node.ports, node.id)
"""

TOO_LARGE = {
    "flood ring:4294967296": 2**32 * 10,
    "broadcast torus:2147483648x3": 3 * 2**31 * (8 + 8 + 4),
    "reduce torus:2147483648x3": 3 * 2**31 * 6 * 8,
    "scatter torus:2147483648x3": 3 * 2**31 * 3 * 8,
    "gather torus:2147483648x3": 3 * 2**31 * 3 * 8,
    "ascend hypercube:30 --operator sum": 2**30 * 3 * 8,
    "run {echo} --on lens:3,2,57": 2 * 2**57 * 600,
    "exec --on torus:2147483647x2 -c pass": 2**32 * 2**13,
    "route gbsn:1,m=4-4-2147483648-2,a=1 --paths": 3 * 2**31 * 8,
    "route fattree:65,3 --pairs all": 65**3 * (65**3 - 1) * 4 * 8,
    "route hypercube:28 --loads --pairs random:1": 2**28 * 28 * 4,
    "route hypercube:30": 2**30 * (3 + 1) * 8,
    "route hypercube:20 --pairs random:1000000000": 10**9 * (3 * 8 + 4),
    "load hypercube:26": 2**26 * 54 * 16,
}
"""The bytes of the arrays that all ranks certainly hold together."""


@pytest.fixture
def echo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A program's file, and hosts of `THERE_IS` bytes without a limit for a process."""
    monkeypatch.setattr(memory, "host_memory", lambda: THERE_IS)
    monkeypatch.setattr(memory, "process_limit", lambda: THERE_IS)
    monkeypatch.setattr(room, "memory_left", lambda: THERE_IS)
    monkeypatch.setattr(room, "address_space_left", lambda: None)
    (tmp_path / "echo.py").write_text(ECHO)
    return f"{tmp_path}/echo.py:echo"


@pytest.mark.parametrize("command", TOO_LARGE)
def test_what_does_not_fit_is_refused_with_both_numbers(
    command: str, echo: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status = CommandSession(command.format(echo=echo).split()).run()
    told = capsys.readouterr().err
    assert status == 2
    if launched_rank() == 0:
        assert len(told.splitlines()) == 1
        said = re.search(r" needs about ([\d.]+ .?i?B).*, and 16\.0 GiB are free", told)
        assert said is not None
        needed = memory.bytes_of(said[1])
        assert needed > THERE_IS
        assert 0.9 * TOO_LARGE[command] <= needed < 12 * TOO_LARGE[command]
        assert ("would do" in told) or "no number of hosts" in told


@pytest.mark.parametrize("command", ["flood torus:64x64", "ascend hypercube:12 --operator fft"])
def test_a_limit_holds_and_force_goes_past_it(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert CommandSession([*command.split(), "--memory-limit", "1GiB"]).run() == 0
    document = capsys.readouterr().out
    assert CommandSession([*command.split(), "--memory-limit", "20KiB"]).run() == 2
    told = capsys.readouterr().err
    if launched_rank() == 0:
        assert "--memory-limit allows 20.0 KiB" in told
        assert len(told.splitlines()) == 1
    assert CommandSession([*command.split(), "--memory-limit", "20KiB", "--force"]).run() == 0
    assert capsys.readouterr().out == document


@pytest.mark.parametrize("typed", ["flood torus:64x64", "gather torus:16x16"])
def test_the_ranks_of_a_host_share_a_limit(typed: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A byte less than all ranks need together, on however many ranks, is too little.

    Where one rank alone needs more, as that of a root, its part counts once.
    """
    words, ranks = typed.split(), launched_ranks()
    job = module_of(words[0]).prepare(parse(words))
    elsewhere = job.needs(ranks) - job.needs_once(ranks)
    together = ranks * elsewhere + job.needs_once(ranks)
    assert CommandSession([*words, "--memory-limit", str(together)]).run() == 0
    assert CommandSession([*words, "--memory-limit", str(together - 1)]).run() == 2
    if launched_rank() == 0:
        told = capsys.readouterr().err
        assert (f"for {ranks} ranks" in told) == (ranks > 1)


def test_functions_refuse_what_their_commands_refuse() -> None:
    with pytest.raises(TooLarge, match=r"--memory-limit allows 20\.0 KiB"):
        mpinet.flood("torus:64x64", memory_limit="20KiB")
    assert mpinet.flood("torus:64x64", memory_limit="20KiB", force=True).informed == 4096
    with pytest.raises(UsageError, match="such as 4GiB"):
        mpinet.flood("torus:64x64", memory_limit="much")


def test_a_step_with_too_many_messages_is_refused(
    echo: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(memory, "host_memory", lambda: 2**20)
    monkeypatch.setattr(room, "memory_left", lambda: 2**30)
    status = CommandSession(f"run {echo} --on complete:128".split()).run()
    told = capsys.readouterr().err
    assert status == 2
    if launched_rank() == 0:
        assert "Step 1, in which a rank's processors send" in told
