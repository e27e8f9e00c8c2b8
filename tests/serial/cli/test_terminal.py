"""What a person sees in a terminal: tables that fit, progress with an end, lines that complete."""

import os
import subprocess
import sys

import pytest

from mpinet.base.guardian.processes import RANK_VARIABLES
from mpinet.cli import session
from mpinet.cli.session import CommandSession
from mpinet.networks.catalogue import FAMILIES
from mpinet.report import progress
from mpinet.report.tables import table

LONG = "one two three four five six seven eight nine ten"


def test_a_table_is_wrapped_to_its_width_and_loses_no_word():
    rows = [("short", LONG, 5), ("an-unbreakable-name", LONG, 1234)]
    lines = table(rows, ("name", "words", "number"), width=50).splitlines()
    assert max(map(len, lines)) <= 50
    assert " ".join(lines).split().count("seven") == 2
    assert table(rows).splitlines() == [line for line in table(rows, width=500).splitlines()]


def test_a_table_is_no_narrower_than_its_longest_words():
    lines = table([("unbreakable" * 3, "short")], width=10).splitlines()
    assert lines == ["unbreakable" * 3 + "  short"]


def test_the_catalogue_fits_into_80_columns_and_a_family_tells_all(capsys):
    assert CommandSession(["topologies"]).run() == 0
    shown = capsys.readouterr().out
    assert max(map(len, shown.splitlines())) <= 80
    assert {line.split()[0] for line in shown.splitlines() if line[:1].strip()} >= set(FAMILIES)
    assert CommandSession(["topologies", "lens"]).run() == 0
    shown = capsys.readouterr().out
    assert "p >= 2; q >= 2; n >= 1" in shown and "papers/lens" in shown
    assert CommandSession(["topologies", "lense"]).run() == 2
    assert "did you mean lens" in capsys.readouterr().err


def test_progress_with_an_end_tells_what_is_left(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    with progress.Progress("claims", wanted=True, launched=True) as shown:
        now[0] = 30.0
        shown.update(10, 40)
    assert capsys.readouterr().err == "claims 10 of 40 after 30 s, 90 s left\n"


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("mpinet bro", {"broadcast "}),
        ("mpinet route --map", {"--mapping "}),
        ("mpinet route --mapping cl", {"clusters "}),
        ("mpinet flood gm", {"gmn:", "gmnany:"}),
    ],
)
def test_a_shell_completes_the_line(tmp_path, line, offered):
    answer = tmp_path / "answer"
    asked = {
        "_ARGCOMPLETE": "1",
        "_ARGCOMPLETE_STDOUT_FILENAME": str(answer),
        "_ARGCOMPLETE_IFS": "\n",
        "COMP_LINE": line,
        "COMP_POINT": str(len(line)),
    }
    words = [sys.executable, "-m", "mpinet"]
    subprocess.run(words, env=os.environ | asked, check=False, timeout=300)
    assert set(answer.read_text().split("\n")) == offered


@pytest.mark.parametrize(
    ("variable", "rank", "met", "seconds"),
    [
        ("OMPI_COMM_WORLD_RANK", "1", False, [session.LATE]),
        ("OMPI_COMM_WORLD_RANK", "1", True, [session.LAST_WORD]),
        ("PMI_RANK", "1", False, [session.LAST_WORD]),
        ("OMPI_COMM_WORLD_RANK", "0", False, []),
    ],
)
def test_other_ranks_leave_rank_0_the_time_to_say_what_is_wrong(
    variable, rank, met, seconds, monkeypatch
):
    for name in RANK_VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv(variable, rank)
    waited = []
    monkeypatch.setattr(session.time, "sleep", waited.append)
    monkeypatch.delitem(sys.modules, "mpi4py.MPI", raising=False)
    if met:
        monkeypatch.setitem(sys.modules, "mpi4py.MPI", session)
    with pytest.raises(SystemExit) as ended:
        session.leave(2)
    assert (ended.value.code, waited) == (2, seconds)
