"""Every option that writes: what is no file is written through or refused, and never replaced."""

import argparse
import fcntl
import json
import os
import re
import socket
import stat
import sys
from pathlib import Path

import pytest

from mpinet.base.files import require_writable, whole_file, write_text
from mpinet.cli.commands import COMMANDS
from mpinet.cli.parser import parser_of
from mpinet.cli.session import CommandSession
from mpinet.errors import FileError

BROADCAST = "broadcast ring:8"

SHARED = {
    "--out": (f"{BROADCAST} --out", ".json"),
    "--record": (f"{BROADCAST} --record", ".npz"),
    "--draw": (f"{BROADCAST} --draw", ".svg"),
    "--play": (f"{BROADCAST} --play", ".html"),
    "--trace": (f"{BROADCAST} --trace", ".paje"),
}
"""Options that mean the same in all commands, each in one of them: its words, its file's ending."""

OWN = {
    ("show", "--edges"): ("show ring:8 --edges", ".csv"),
    ("draw", "-o"): ("draw ring:8 -o", ".pdf"),
    ("compare", "-o"): ("compare ring:8 --only processors -o", ""),
    ("route", "--paths-out"): ("route ring:8 --paths-out", ""),
    ("predict route", "--paths-out"): None,
    ("load", "--plot"): ("load ring:8 --rate 0.1 --warmup 200 --steps 400 --plot", ".png"),
    ("broadcast", "--schedule-out"): (f"{BROADCAST} --schedule-out", ""),
    ("predict broadcast", "--schedule-out"): None,
    ("optimum", "--schedule"): ("optimum broadcast ring:5 --schedule", ".csv"),
    ("schedule export", "--out"): ("schedule export broadcast ring:8 --out", ".xml"),
    ("certify", "--export"): None,
    ("exec", "--messages"): None,
    ("exec", "--sarif"): None,
    ("schedule generate", "--out"): (
        "schedule generate allreduce:ring,1kB,processors=4 --out",
        ".goal",
    ),
    ("pareto", "--plot"): (
        "pareto allgather ring:4 --chunks 2 --alpha 1 --beta 1 --bytes 60,600 --plot",
        ".png",
    ),
    ("replay", "--plot"): (
        "replay allreduce:ring,1kB,processors=4 --on ring:4 --time-byte 1 --vary place=identity "
        "--vary place=random --plot",
        ".svg",
    ),
    ("tune", "--plot"): ("tune allgather --on ring:4 --bytes 1kB,2kB --time-byte 1 --plot", ".png"),
    ("plot", "-o"): ("plot rows.csv --x x --y y -o", ".svg"),
    ("trace", "-o"): ("trace run.npz --as csv -o", ".csv"),
    ("play", "-o"): ("play run.npz -o", ".html"),
    ("verify", "--html"): ("verify GBSN-S2-bsn-size --html", ""),
}
"""Options of one command; None where another test writes, as the option cannot stand last, or where
the other command's code is run without writing."""

REFUSING = {
    ("optimum", "--save"): "optimum broadcast ring:5 --save",  # it has a proof beside it
    ("template", "-o"): "template slurm -o",  # it writes nothing but new files
    ("demo", "--page"): "demo -n 1 --results new --page",
}
"""Options that refuse also what could be written through, before anything is done."""

FOLDERS = {
    ("*", "--checkpoint"): f"{BROADCAST} --checkpoint",
    ("sweep", "--out"): "sweep plan.json --out",
    ("pareto", "--save"): "pareto allgather ring:4 --chunks 2 --save",
    ("reproduce", "--out"): "reproduce lens figure-2 --out",
    ("find", "--save"): "find --search --processors 8 --degree 3 --moves 4 --save",
    ("find", "--journal"): "find --search --processors 8 --degree 3 --moves 4 --journal",
    ("verify", "--journal"): "verify GBSN-S2-bsn-size --journal",
    ("demo", "--results"): "demo -n 1 --page none --results",
}
"""Options that name a folder."""

READ = {("verify", "--from"), ("bench", "--against")}


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("rows.csv").write_text("x,y\n1,2\n2,3\n")
    Path("plan.json").write_text('{"command": "broadcast", "topology": "ring:8"}')
    assert CommandSession([*BROADCAST.split(), "--record", "run.npz"]).run() == 0
    return tmp_path


def options_with_files():
    """The options of all commands that name a file or a folder."""
    for name in COMMANDS:
        waiting = [("", parser_of(name))]
        while waiting:
            command, parser = waiting.pop()
            for action in parser._actions:
                if isinstance(action, argparse._SubParsersAction):
                    waiting += [(f"{command} {w}".strip(), p) for w, p in action.choices.items()]
                elif action.option_strings and re.match(
                    r"(FILE|FOLDER|OUT)\b", str(action.metavar)
                ):
                    yield command, action.option_strings[0]


def read_all(pipe):
    parts = []
    while part := os.read(pipe, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def essence(text, ending):
    """What does not change from one run to the next."""
    if ending == ".json":
        return json.loads(text)["digest"]
    return re.sub(rb"\d{4}-\d\d-\d\dT[\d:]{8}", b"", text)  # a page says when it was made


def test_the_table_of_options_that_write_lacks_none():
    for command, option in options_with_files():
        known = (command, option) in {*OWN, *REFUSING, *FOLDERS, *READ}
        assert known or option in SHARED or ("*", option) in FOLDERS, (command, option)


def test_no_option_replaces_what_is_no_file_and_links_lead_to_their_files(here):
    for words, ending in [*SHARED.values(), *filter(None, OWN.values())]:
        for path in map(Path, ("file", "pipe", "null")):
            path.unlink(missing_ok=True)
        link = Path(f"link{ending}")
        link.unlink(missing_ok=True)

        link.symlink_to("file")
        assert CommandSession([*words.split(), str(link)]).run() == 0, words
        assert link.readlink() == Path("file")
        written = Path("file").read_bytes()
        assert written, words

        os.mkfifo("pipe")
        link.unlink()
        link.symlink_to("pipe")
        pipe = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
        fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, 1 << 20)  # nobody reads until the command has ended
        assert CommandSession([*words.split(), str(link)]).run() == 0, words
        assert essence(read_all(pipe), ending) == essence(written, ending), words
        os.close(pipe)
        assert stat.S_ISFIFO(os.lstat("pipe").st_mode)

        if os.geteuid() == 0:
            os.mknod("null", stat.S_IFCHR | 0o666, os.makedev(1, 3))
            link.unlink()
            os.rename("null", link)
            assert CommandSession([*words.split(), str(link)]).run() == 0, words
            assert stat.S_ISCHR(os.lstat(link).st_mode), words


def test_sockets_and_folders_are_refused_before_anything_is_done(here, capsys):
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        for words, ending in [
            *SHARED.values(),
            *filter(None, OWN.values()),
            *((words, "") for words in REFUSING.values()),
        ]:
            for target, why in (("socket", "it is a socket"), ("folder", "it is a folder")):
                Path("folder").mkdir(exist_ok=True)
                link = Path(f"link{ending}")
                link.unlink(missing_ok=True)
                link.symlink_to(target)
                capsys.readouterr()
                try:
                    status = CommandSession([*words.split(), str(link)]).run()
                except FileError as error:  # commands of this host alone leave it to their caller
                    status, said = error.status, str(error)
                else:
                    said = capsys.readouterr().err
                assert status == 2, words
                assert why in said or "already exists" in said, (words, said)
                assert stat.S_ISSOCK(os.lstat("socket").st_mode) and not any(
                    Path("folder").iterdir()
                )


def test_certificates_and_folders_take_no_pipe(here, capsys):
    os.mkfifo("pipe")
    for words in [*FOLDERS.values(), REFUSING["optimum", "--save"], REFUSING["template", "-o"]]:
        assert CommandSession([*words.split(), "pipe"]).run() == 2, words
        assert "pipe" in capsys.readouterr().err
        assert stat.S_ISFIFO(os.lstat("pipe").st_mode)
    assert not Path("pipe.lrat.xz").exists()


def test_an_open_file_is_written_on_where_it_stands(here):
    with open("log", "w+b") as log:
        log.write(b"before\n")
        log.flush()
        for name in (f"/dev/fd/{log.fileno()}", f"/proc/self/fd/{log.fileno()}"):
            require_writable(Path(name))
            write_text(Path(name), "more\n")
        os.write(log.fileno(), b"after\n")
    assert Path("log").read_text() == "before\nmore\nmore\nafter\n"
    with open("log", "rb") as log, pytest.raises(FileError, match="no permission"):
        require_writable(Path(f"/dev/fd/{log.fileno()}"))


def test_what_goes_wrong_is_said_and_nothing_is_left_behind(here):
    Path("round").symlink_to("about")
    Path("about").symlink_to("round")
    Path("dangling").symlink_to("nowhere/file")
    for name, why in (
        ("round", "levels of symbolic links"),
        ("dangling", "its folder does not exist"),
        ("none/file", "its folder does not exist"),
        ("rows.csv/file", "its folder does not exist"),
        (".", "it is a folder"),
        ("x" * 300, "File name too long"),
    ):
        with pytest.raises(FileError, match=why):
            require_writable(Path(name))
    os.mkfifo("pipe")
    pipe = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    with pytest.raises(KeyError), whole_file(Path("pipe")) as file:
        file.write(b"half")
        raise KeyError
    assert read_all(pipe) == b""  # nothing at all of what is not whole
    os.close(pipe)
    assert not any(path.name.startswith(".mpinet") for path in here.iterdir())


def test_a_disk_is_refused(here):
    if os.geteuid() or sys.platform != "linux":
        pytest.skip("only root can make one")
    os.mknod("disk", stat.S_IFBLK | 0o600, os.makedev(7, 250))
    with pytest.raises(FileError, match="it is a disk"):
        require_writable(Path("disk"))
