"""Files that have no end, or what no file of theirs has, end in one sentence; pipes are read."""

import json
import os
import stat
from pathlib import Path

import pytest

from mpinet.base.files import read_bytes, seekable
from mpinet.base.memory import out_of_memory
from mpinet.cli.session import CommandSession

COMMANDS = (
    "sweep {}.toml --out runs",
    "sweep {}.json --out runs",
    "show graph:{}.edges",
    "show graph:{}.gml",
    "show graph:{}.graphml",
    "show graph:{}.g6",
    "show graph:{}.csv",
    "show graph:{}.dot",
    "route ring:8 --pairs {}.csv",
    "route ring:8 --faults {}.txt",
    "load ring:8 --pattern {}.csv",
    "schedule run {}.csv --on ring:8",
    "plot {}.csv --x a --y b -o p.svg",
    "plot {}.json --x a --y b -o p.svg",
    "replay {}.goal --flat 1",
    "replay {}.bin --on ring:8",
    "replay allreduce:ring,1kB,processors=8 --on ring:8 --place {}.txt",
    "load ring:8 --program {}.goal",
    "load ring:8 --program allreduce:ring,64 --place {}.txt",
    "play {}.npz -o page.html",
    "play {}.csv -o page.html",
    "trace {}.npz -o trace.json",
    "verify --from {}.json",
    "certify {}.cert",
    "exec --on ring:4 {}.py",
    "resume {}",
)
"""Every reader of files that people name."""


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said_by(words, capsys):
    capsys.readouterr()
    return CommandSession(words).run(), capsys.readouterr().err


def test_what_has_no_end_is_refused_by_every_reader(here, capsys, monkeypatch):
    if os.geteuid():
        pytest.skip("only root can make a device")
    for module in ("base.files", "certify.certificate"):
        monkeypatch.setattr(f"mpinet.{module}.MOST_BYTES", 2**20)
    monkeypatch.setattr(read_bytes, "__defaults__", (2**20,))
    for command in COMMANDS:
        words = command.format("zero").split()
        name = next(word for word in words if "zero" in word).removeprefix("graph:")
        os.mknod(name, stat.S_IFCHR | 0o666, os.makedev(1, 5))  # as /dev/zero
        status, said = said_by(words, capsys)
        assert (status, said.count("\n")) == (2, 1), (command, said)
        known = ("more than", "characters at most", "is a device", "is no checkpoint")
        assert any(reason in said for reason in known), (command, said)
        os.unlink(name)


@pytest.mark.parametrize("length", [252, 5000])  # of a name with its ending, and of a path
def test_a_name_that_is_too_long_is_a_sentence(here, capsys, length):
    for command in COMMANDS:
        status, said = said_by(command.format("n" * length).split(), capsys)
        assert status == 2 and said.startswith("mpinet: ") and said.count("\n") == 1, command


def test_pipes_are_read(here, capsys):
    edges = b"0 1\n1 2\n2 0\n"
    for name, words, text in (
        ("ring.edges", "show graph:ring.edges", edges),
        ("pairs.csv", "route ring:8 --pairs pairs.csv", b"0,3\n1,2\n"),
        ("plan.json", "sweep plan.json --out runs", b'{"command":"flood","topology":"ring:8"}'),
        ("rows.csv", "plot rows.csv --x x --y y -o rows.svg", b"x,y\n1,2\n"),
    ):
        read, write = os.pipe()
        os.write(write, text)
        os.close(write)
        Path(name).symlink_to(f"/dev/fd/{read}")
        status, said = said_by(words.split(), capsys)
        assert status == 0, (words, said)
        os.close(read)
    (here / "whole").write_bytes(edges)
    with seekable(here / "whole") as file:
        file.seek(4)
        assert file.read() == edges[4:]


def test_a_result_whose_origin_is_no_text_is_refused(here, capsys):
    assert CommandSession(["verify", "GBSN-S2-bsn-size", "--out", "found.json"]).run() == 0
    document = json.loads(Path("found.json").read_text())
    assert said_by(["verify", "--from", "found.json", "--html", "page.html"], capsys)[0] == 0
    for field in document["made"]:
        for wrong in (1, ["x"], {"a": 1}, True):
            changed = document | {"made": document["made"] | {field: wrong}}
            Path("changed.json").write_text(json.dumps(changed))
            words = ["verify", "--from", "changed.json", "--html", "page.html"]
            status, said = said_by(words, capsys)
            assert (status, said.count("\n")) == (2, 1)
            assert "the file is not a result of mpinet verify" in said


def test_an_option_without_a_value_is_refused_whatever_it_takes(here, capsys):
    for option in ("--play", "--draw", "--record", "--trace", "--out", "--watchdog", "--seed"):
        status, said = said_by(["allreduce", "petersen", f"{option}=--"], capsys)
        assert (status, said) == (2, f"mpinet: argument {option}: expected one argument, not --\n")


def test_memory_that_has_run_out_is_that_of_the_limit_that_was_met(monkeypatch):
    monkeypatch.setattr("mpinet.base.memory.host_memory", lambda: 2**34)
    monkeypatch.setattr("mpinet.base.memory.process_limit", lambda: 2**31)
    said = out_of_memory(MemoryError())
    assert "this process may have 2.0 GiB of address space (ulimit -v)" in said
    monkeypatch.setattr("mpinet.base.memory.process_limit", lambda: 2**34)
    assert "there are 16.0 GiB here" in out_of_memory(MemoryError())


@pytest.mark.parametrize("name", ["1" * 300, "a/" * 3000 + "b"])
def test_a_name_that_no_file_can_have_is_refused_by_every_reader(name, here, capsys):
    """Linux names have at most 255 bytes, and paths 4,096."""
    for command in COMMANDS:
        status, said = said_by(command.format(name).split(), capsys)
        assert (status, said.count("\n")) == (2, 1), (command, said)
        assert said.startswith("mpinet: "), command
