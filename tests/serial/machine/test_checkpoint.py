"""What a checkpoint's folder must be, or it is refused: whole, of this mpinet, and of this run."""

import errno
import fcntl
import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from mpinet.base.arrays import Array
from mpinet.cli.session import CommandSession
from mpinet.errors import FileError, OutputError, Suspended
from mpinet.experiments.journal import version_of
from mpinet.machine import Machine, checkpoint
from mpinet.machine import transport as transports
from mpinet.machine.checkpoint import MANIFEST, Checkpointer, read_manifest
from mpinet.machine.checkpointfiles import FolderLock
from mpinet.machine.hop import SEAL_MASK
from mpinet.machine.ledger import Ledger, restore
from mpinet.machine.state import Numbered, State
from mpinet.machine.transport import STOP, Local

COMMAND = ["route", "ring:20", "--pairs", "all"]


def counted(transport: Local, steps: int) -> list[int]:
    """What every processor counts to, a step each time."""
    machine = Machine("ring:6", transport=transport)
    with State(machine, "count", heard=Numbered(machine.nodes * 0, machine.nodes)) as state:
        while machine.steps < steps:
            state.heard[machine.step(machine.nodes, [0] * 6).nodes] += 1
            state.boundary()
    return state.heard.tolist()


def saved(folder: Path, **header: object) -> Path:
    """A checkpoint of such a run after its first step."""
    transport = Local()
    transport.keeper = Checkpointer(folder, header, transport)
    transport.keeper.begin()
    transport.wish = STOP
    with pytest.raises(Suspended):
        counted(transport, 4)
    transport.keeper.release()
    return folder


def write_manifest(folder: Path, manifest: dict) -> None:
    """As a job does that has the folder."""
    hold = FolderLock(folder)
    hold.begin()
    hold.write(manifest)
    hold.release()


def resumed(folder: Path) -> list[int]:
    transport = Local()
    transport.keeper = Checkpointer(folder, {}, transport, found=read_manifest(folder))
    transport.keeper.begin()
    found = counted(transport, 4)
    transport.keeper.release()
    return found


def test_a_run_goes_on_from_its_checkpoint(tmp_path):
    assert resumed(saved(tmp_path / "whole")) == [4] * 6


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


@pytest.mark.parametrize(
    ("damage", "said"), [(flip, "is damaged"), (cut, "bytes instead of"), (Path.unlink, "No such")]
)
def test_a_file_that_is_not_as_it_was_written_is_refused(tmp_path, damage, said):
    folder = saved(tmp_path / "damaged")
    (part,) = folder.glob("state-*/*heard*.npy")
    damage(part)
    with pytest.raises(FileError, match=said):
        resumed(folder)


@pytest.mark.parametrize("damage", [flip, cut])
def test_a_damaged_manifest_is_refused(tmp_path, damage):
    folder = saved(tmp_path / "damaged")
    damage(folder / MANIFEST)
    with pytest.raises(FileError, match="damaged"):
        read_manifest(folder)


def test_a_step_that_was_changed_in_the_manifest_is_noticed(tmp_path):
    folder = saved(tmp_path / "changed")
    text = (folder / MANIFEST).read_text()
    (folder / MANIFEST).write_text(text.replace('"step": 1', '"step": 2'))
    with pytest.raises(FileError, match="damaged"):
        read_manifest(folder)


def test_another_runs_checkpoint_is_refused(tmp_path):
    folder = saved(tmp_path / "other")
    transport = Local()
    transport.keeper = Checkpointer(folder, {}, transport, found=read_manifest(folder))
    with (
        pytest.raises(FileError, match="another run"),
        State(Machine("ring:6", transport=transport), "another", step=0),
    ):
        pass


def test_pickled_objects_are_not_loaded(tmp_path):
    folder = saved(tmp_path / "pickled")
    (part,) = folder.glob("state-*/*heard*.npy")
    np.save(part, np.array([{}] * 6), allow_pickle=True)
    manifest = read_manifest(folder)
    file = manifest["parts"][0]["0-count.heard"]["rows"]
    import hashlib

    file |= {
        "bytes": part.stat().st_size,
        "sha256": hashlib.sha256(part.read_bytes()).hexdigest(),
    }
    write_manifest(folder, manifest)
    with pytest.raises(FileError, match="is no array"):
        resumed(folder)


SOUND = [("format",), ("ranks",), ("state",), ("frames",), ("parts",)]
OF_A_FRAME = [("frames", 0, name) for name in ("name", "ordinal", "children", "steps")]
OF_A_FIELD = [("parts", 0, "0-count.heard", *more) for more in ((), ("rows",), ("from",))]
OF_A_FILE = [("parts", 0, "0-count.heard", "rows", name) for name in ("file", "bytes", "sha256")]


def with_harm(manifest: dict, way: tuple, harm: object) -> dict:
    """A manifest in which a value is another one."""
    changed = json.loads(json.dumps(manifest))
    inside = changed
    for name in way[:-1]:
        inside = inside[name]
    inside[way[-1]] = harm
    return changed


@pytest.mark.parametrize("harm", [-1, 10**30, "x", {"a": 1}])
@pytest.mark.parametrize("way", SOUND + OF_A_FRAME + OF_A_FIELD + OF_A_FILE)
def test_a_manifest_that_was_made_up_is_refused(tmp_path, way, harm):
    folder = saved(tmp_path / "made-up")
    write_manifest(folder, with_harm(read_manifest(folder), way, harm))
    with pytest.raises(FileError, match=r"^The checkpoint .*\.$"):
        resumed(folder)


@pytest.mark.parametrize(
    ("way", "name"),
    [
        (("state",), "../elsewhere/state-1"),
        (("state",), "../elsewhere"),
        (("parts", 0, "0-count.heard", "rows", "file"), "../../elsewhere/heard.npy"),
        (("parts", 0, "0-count.heard", "rows", "file"), "/etc/hostname"),
    ],
)
def test_a_manifest_that_names_files_elsewhere_is_refused(tmp_path, way, name):
    folder = saved(tmp_path / "pointing")
    (part,) = folder.glob("state-*/*heard*.npy")
    elsewhere = tmp_path / "elsewhere"
    (elsewhere / "state-1").mkdir(parents=True)
    for place in (
        elsewhere / "heard.npy",
        elsewhere / part.name,
        elsewhere / "state-1" / part.name,
    ):
        place.write_bytes(part.read_bytes())
    write_manifest(folder, with_harm(read_manifest(folder), way, name))
    with pytest.raises(FileError, match="is damaged"):
        resumed(folder)
    assert (elsewhere / "state-1" / part.name).exists()


def test_a_checkpoint_that_cannot_be_written_leaves_the_one_before_and_room(tmp_path, monkeypatch):
    folder = tmp_path / "full"
    transport = Local()
    transport.keeper = Checkpointer(folder, {}, transport, every=0)
    transport.keeper.begin()
    write, left = checkpoint.write_array, [2]

    def full(path: Path, array: Array) -> dict:
        left[0] -= 1
        if left[0] < 0:
            path.write_bytes(b"half")
            raise OSError(errno.ENOSPC, "No space left on device")
        return write(path, array)

    monkeypatch.setattr(checkpoint, "write_array", full)
    with pytest.raises(OutputError, match="No space left on device"):
        counted(transport, 4)
    transport.keeper.release()
    monkeypatch.undo()
    state = read_manifest(folder)["state"]
    assert [path.name for path in folder.glob("state-*")] == [state]
    (folder / "state-77").mkdir()  # of a job that was killed while it wrote
    assert resumed(folder) == [4] * 6
    assert [path.name for path in folder.glob("state-*")] == [state]


def test_a_stopped_run_says_how_to_go_on_in_words_for_a_shell(tmp_path):
    folder = tmp_path / "my 'own' $(folder)"
    suspended = str(Checkpointer(folder, {}, Local()).suspended())
    (words,) = re.findall("mpinet (.*) goes on", suspended)
    assert shlex.split(words) == ["resume", str(folder)]


HOLDING = """
import sys
from pathlib import Path
from mpinet.machine.checkpointfiles import FolderLock
hold = FolderLock(Path(sys.argv[1]))
hold.begin()
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def hold():
    """Another job that uses a folder; it is killed by the test, or after it."""
    jobs = []

    def start(folder: Path, script: str = HOLDING, **environment: str) -> subprocess.Popen:
        words = [sys.executable, "-c", script, str(folder)]
        own = os.environ | environment
        jobs.append(subprocess.Popen(words, stdin=-1, stdout=-1, text=True, env=own))
        assert jobs[-1].stdout.readline() == "held\n"
        return jobs[-1]

    yield start
    for job in jobs:
        job.kill()
        job.communicate()


def test_a_folder_that_another_job_uses_is_refused_until_that_is_dead(
    hold, tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    saved(
        tmp_path / "kept", mpinet="1", sources=version_of(), command=COMMAND, inputs={}, where="."
    )
    (tmp_path / "begun").mkdir()
    others = [hold(tmp_path / "kept"), hold(tmp_path / "begun")]
    ways = ["resume", "kept"], [*COMMAND, "--checkpoint", "begun"]
    for words, other in zip(ways, others, strict=True):
        status, text = said_by(words, capsys)
        assert (status, text.count("\n")) == (2, 1)
        who = f"process {other.pid} on {platform.node()}"
        assert f"{words[-1]} is in use: {who} writes" in text
    for other in others:
        other.kill()
        other.wait()
    assert CommandSession([*COMMAND, "--checkpoint", "begun"]).run() == 0
    assert not (tmp_path / "begun").exists()
    assert resumed(tmp_path / "kept") == [4] * 6


def test_what_was_written_since_the_checkpoint_was_read_is_gone_on_from(tmp_path):
    folder = saved(tmp_path / "older", command="it")
    older = read_manifest(folder)
    write_manifest(folder, older | {"step": 7})
    transport = Local()
    keeper = Checkpointer(folder, {"command": "it"}, transport, found=older)
    keeper.begin()
    keeper.release()
    assert keeper.found["step"] == 7
    write_manifest(folder, older | {"command": "another"})
    with pytest.raises(FileError, match="in use"):
        Checkpointer(folder, {"command": "it"}, transport, found=older).begin()


FIRST = {"SLURM_JOB_ID": "17"}
AGAIN = FIRST | {"SLURM_RESTART_COUNT": "1"}


@pytest.mark.parametrize(
    "other", [{}, FIRST, AGAIN | {"SLURM_JOB_ID": "18"}, AGAIN | {"SLURM_CLUSTER_NAME": "x"}]
)
def test_only_a_job_that_is_started_again_takes_the_folder_of_its_earlier_run(
    hold, tmp_path, monkeypatch, other
):
    folder = saved(tmp_path / "kept")
    hold(folder, **FIRST)
    for name, value in other.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(FileError, match="in use"):
        resumed(folder)
    monkeypatch.delenv("SLURM_CLUSTER_NAME", raising=False)
    for name, value in AGAIN.items():
        monkeypatch.setenv(name, value)
    with pytest.raises(BlockingIOError):  # nor does that where it would begin anew
        FolderLock(folder)
    assert resumed(folder) == [4] * 6


def by_lock(monkeypatch):
    """The second is the first's job, started again, while the first holds its lock."""
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    return lambda: monkeypatch.setenv("SLURM_RESTART_COUNT", "1")


def by_loss(monkeypatch):
    """The file server has given the first's lock to the second."""
    return lambda: monkeypatch.setattr(fcntl, "flock", lambda *given: None)


@pytest.mark.parametrize("way", [by_lock, by_loss])
def test_a_job_whose_folder_was_taken_over_writes_nothing_there_any_more(
    tmp_path, monkeypatch, way
):
    strike = way(monkeypatch)
    first, second = Local(), Local()
    first.keeper = Checkpointer(tmp_path, {}, first, every=0)
    first.keeper.begin()

    def taken_over():
        strike()
        second.keeper = Checkpointer(tmp_path, {}, second, every=0, found=read_manifest(tmp_path))
        second.keeper.begin()

    machine = Machine("ring:6", transport=first)
    with State(machine, "count", heard=Numbered(machine.nodes * 0, machine.nodes)) as state:
        state.heard[machine.step(machine.nodes, [0] * 6).nodes] += 1
        state.boundary()
        taken_over()
        kept = sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("state"))
        state.heard[machine.step(machine.nodes, [0] * 6).nodes] += 1
        with pytest.raises(OutputError, match="belongs to another job now"):
            state.boundary()
    first.keeper.forget()
    assert read_manifest(tmp_path)["step"] == 1
    assert {path.name for path in tmp_path.iterdir()} >= {*kept, "lock"}
    assert counted(second, 4) == [4] * 6
    assert read_manifest(tmp_path)["state"] == "state-5"  # not the 2 of the first
    second.keeper.forget()
    assert not tmp_path.exists()


def test_one_rank_takes_up_the_seals_of_many():
    seals = [SEAL_MASK - k for k in range(12)]  # together more than 63 bits
    ledger = Ledger.counted()
    restore(ledger, Ledger, {**dict.fromkeys(Ledger.kept, 0), "arrivals_seal": sum(seals)})
    assert ledger.arrivals_seal % 2**61 == sum(seals) % 2**61


WRITING = """
import sys
from pathlib import Path
from mpinet.machine.checkpointfiles import FolderLock
EMPTY = {"format": 1, "state": None, "ranks": 1, "frames": [], "parts": []}
hold = FolderLock(Path(sys.argv[1]), again=True)
hold.begin()
number = 0
try:
    while True:
        hold.write({**EMPTY, "by": hold._me["run"], "number": number})
        if not number:
            print("held", flush=True)
        number += 1
except OSError:
    print("lost" if hold.is_lost else "failed", flush=True)
"""


def test_jobs_that_take_a_folder_over_while_others_write_it_are_alone_with_it(
    hold, tmp_path, monkeypatch
):
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    for run in range(5):
        other = hold(tmp_path, WRITING, **FIRST, SLURM_RESTART_COUNT=str(2 * run))
        monkeypatch.setenv("SLURM_RESTART_COUNT", str(2 * run + 1))
        mine = FolderLock(tmp_path, again=True)
        mine.begin()
        found = read_manifest(tmp_path)
        assert found["by"] == 2 * run
        assert other.communicate()[0] == "lost\n"
        assert read_manifest(tmp_path) == found
        mine.write(found | {"by": 2 * run + 1})
        assert read_manifest(tmp_path)["by"] == 2 * run + 1
        # and goes without a word: its lock, and the folder of its manifests, are taken next
    assert len(list(tmp_path.glob("writer-*"))) == 1


def test_a_job_finds_its_folder_gone_before_the_first_file_in_it_is_deleted(tmp_path, monkeypatch):
    monkeypatch.setenv("SLURM_JOB_ID", "17")
    first = FolderLock(tmp_path, again=True)
    first.begin()
    seen, delete = [], shutil.rmtree

    def deleted(folder, **given):
        seen.append(first.is_lost)
        delete(folder, **given)

    monkeypatch.setattr(shutil, "rmtree", deleted)
    monkeypatch.setenv("SLURM_RESTART_COUNT", "1")
    second = FolderLock(tmp_path, again=True)
    assert second.begin()
    assert seen == [True]
    with pytest.raises(FileNotFoundError):
        first.write({})
    second.release(delete=True)
    assert not list(tmp_path.iterdir())


def test_a_folder_without_locks_is_used_without_one(tmp_path, monkeypatch):
    def none(*given: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    assert resumed(saved(tmp_path / "whole")) == [4] * 6


def said_by(words: list[str], capsys) -> tuple[int, str]:
    status = CommandSession(words).run()
    return status, capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([*COMMAND, "--checkpoint", "taken"], "not empty"),
        ([*COMMAND, "--checkpoint", "none/at/all"], "No such file"),
        ([*COMMAND, "--checkpoint", "file"], "File exists"),
        ([*COMMAND, "--checkpoint", ""], "expected the name of a folder"),
        ([*COMMAND, "--every", "3"], "without --checkpoint"),
        ([*COMMAND, "--checkpoint", "new", "--every", "x"], "a time is 0"),
        (["resume", "taken"], "is no checkpoint"),
        (["run", "a:b", "--on", "ring:4", "--checkpoint", "new"], "cannot be saved"),
        (["exec", "--on", "ring:4", "--checkpoint", "new", "-c", "1"], "cannot be saved"),
        (["check", "ring:4", "--checkpoint", "new"], "check has no option --checkpoint"),
        ([*COMMAND, "--watchdog", "-1"], "a time is 0 to 10^9 seconds, not '-1'"),
    ],
)
def test_what_was_typed_wrong_is_said_in_a_sentence(words, said, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken/file").write_text("")
    (tmp_path / "file").write_text("")
    status, text = said_by(words, capsys)
    assert (status, text.count("\n")) == (2, 1)
    assert said in text
    assert not (tmp_path / "new").exists()


def test_a_run_goes_on_with_another_mapping_and_what_it_may_take_of_memory(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Checkpointer, "forget", Checkpointer.release)
    command = ["flood", "torus:64x64", "--memory-limit", "1GiB", "--checkpoint", "kept"]
    assert CommandSession([*command, "--every", "0"]).run() == 0
    again = ["resume", "kept", "--mapping", "random"]
    assert CommandSession(again).run() == 0
    capsys.readouterr()
    status, text = said_by([*again, "--memory-limit", "1KiB"], capsys)
    assert status == 2
    assert "--memory-limit allows 1.0 KiB" in text
    assert CommandSession([*again, "--memory-limit", "1KiB", "--force"]).run() == 0
    verified = ["verify", "GBSN-S2-bsn-size", "--checkpoint", "other"]
    assert CommandSession(verified).run() == 0
    for option in (["--mapping", "random"], ["--memory-limit", "1GiB"], ["--force"]):
        status, text = said_by(["resume", "other", *option], capsys)
        assert (status, text.count("\n")) == (2, 1)
        assert f"{option[0]} does not apply to the verify of" in text


def test_a_run_goes_on_and_its_result_is_printed_and_kept_as_it_is_wanted_now(
    tmp_path, monkeypatch, capsys
):
    (tmp_path / "there").mkdir()
    (tmp_path / "here").mkdir()
    monkeypatch.setattr(Checkpointer, "forget", Checkpointer.release)
    plan = {"command": "flood", "topology": "ring:8"}
    (tmp_path / "there/plan.json").write_text(json.dumps(plan))
    for command in (
        COMMAND,
        [*COMMAND, "--json", "--out", "first.csv"],
        ["verify", "GBSN-S2-bsn-size"],
    ):
        monkeypatch.chdir(tmp_path / "there")
        assert CommandSession([*command, "--checkpoint", "kept"]).run() == 0
        monkeypatch.chdir(tmp_path / "here")
        capsys.readouterr()
        # The file lies where it is typed, not where the run was started.
        words = ["resume", "../there/kept", "--json", "--out", "found.json"]
        assert CommandSession(words).run() == 0
        printed = json.loads(capsys.readouterr().out)
        assert json.loads((tmp_path / "here/found.json").read_text()) == printed
        monkeypatch.chdir(tmp_path / "here")
        status, text = said_by([*words[:2], "--out", "found.txt"], capsys)
        assert (status, text.count("\n")) == (2, 1)
        assert "a result's file ends in .json, .csv or .jsonl" in text
        (tmp_path / "here/found.json").unlink()
        shutil.rmtree(tmp_path / "there/kept")
    monkeypatch.chdir(tmp_path / "there")  # a sweep's --out is a folder, and stays it
    assert (
        CommandSession(["sweep", "plan.json", "--out", "runs", "--checkpoint", "kept"]).run() == 0
    )
    assert CommandSession(["resume", "kept", "--json"]).run() == 0
    status, text = said_by(["resume", "kept", "--out", "found.json"], capsys)
    assert (status, "--out does not apply to the sweep of" in text) == (2, True)


def test_a_folder_that_goes_away_while_the_job_runs_is_said_to_be_gone(tmp_path):
    for way in (shutil.rmtree, lambda folder: folder.rename(tmp_path / "elsewhere")):
        folder, transport = tmp_path / "kept", Local()
        transport.keeper = Checkpointer(folder, {}, transport, every=0)
        transport.keeper.begin()
        machine = Machine("ring:6", transport=transport)
        with State(machine, "count", heard=Numbered(machine.nodes * 0, machine.nodes)) as state:
            machine.step(machine.nodes, [0] * 6)
            state.boundary()
            way(folder)
            machine.step(machine.nodes, [0] * 6)
            with pytest.raises(OutputError, match="kept is gone: it was deleted or moved while"):
                state.boundary()
        transport.keeper.release()
        assert not folder.exists()


def test_a_run_goes_on_with_what_is_to_be_told_of_it_now(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(Checkpointer, "forget", Checkpointer.release)
    monkeypatch.setenv("MPINET_WATCHDOG", "0")
    asked_for, usual = [], CommandSession._progress
    monkeypatch.setattr(
        CommandSession,
        "_progress",
        lambda session, job: asked_for.append(session._line) or usual(session, job),
    )
    assert CommandSession([*COMMAND, "--progress", "--checkpoint", "kept"]).run() == 0
    for words in [], ["--no-progress"], ["--progress", "json"], ["--watchdog", "7"]:
        assert CommandSession(["resume", "kept", *words]).run() == 0
    told = [line.progress for line in asked_for]
    assert told == [True, True, False, "json", True]
    assert [line.watchdog for line in asked_for][-2:] == [None, 7]
    capsys.readouterr()
    status, text = said_by(["doctor", "--progress", "json"], capsys)
    assert (status, text) == (
        2,
        "mpinet: doctor has no option --progress: 43 commands, such as mpinet show, have this "
        "option.\n",
    )


@pytest.mark.parametrize("setting", ["soon", "-1", "nan"])
def test_a_watchdog_that_is_no_time_is_refused(setting, monkeypatch, capsys):
    monkeypatch.setenv("MPINET_WATCHDOG", setting)
    transports._launched_world.cache_clear()
    status, text = said_by(COMMAND, capsys)
    transports._launched_world.cache_clear()
    assert (status, text.count("\n")) == (2, 1)
    assert f"MPINET_WATCHDOG: a time is 0 to 10^9 seconds, not '{setting}'" in text


@pytest.mark.parametrize(
    "harm",
    [
        {"command": None},
        {"command": ["--help"]},
        {"command": ["flood"]},
        {"command": ["doctor"]},
        {"command": ["launch", "-n", "2", "flood", "ring:4"]},
        {"command": ["resume", "kept"]},
        {"where": ["."]},
        {"where": "\0"},
        {"where": "gone"},
        {"sources": None},
        {"inputs": None},
        {"inputs": {"own.edges": 1}},
    ],
)
def test_a_checkpoint_of_no_command_is_refused(tmp_path, monkeypatch, capsys, harm):
    monkeypatch.chdir(tmp_path)
    header = {
        "mpinet": "1",
        "sources": version_of(),
        "command": COMMAND,
        "where": ".",
        "inputs": {},
    }
    saved(tmp_path / "kept", **(header | harm))
    status, text = said_by(["resume", "kept"], capsys)
    assert (status, text.count("\n")) == (2, 1)
    assert str(tmp_path) in text or "kept" in text


def test_a_checkpoint_of_another_version_or_of_other_files_is_refused(
    tmp_path, monkeypatch, capsys
):
    monkeypatch.chdir(tmp_path)
    edges = tmp_path / "own.edges"
    edges.write_text("0 1\n1 2\n2 0\n")
    monkeypatch.setattr(Checkpointer, "forget", Checkpointer.release)
    command = ["flood", "graph:own.edges", "--checkpoint", "kept", "--every", "0"]
    assert CommandSession(command).run() == 0
    status, text = said_by(command, capsys)
    assert status == 2
    assert "mpinet resume" in text
    assert CommandSession(["resume", "kept"]).run() == 0
    edges.write_text("0 1\n1 2\n2 3\n3 0\n")
    assert said_by(["resume", "kept"], capsys)[1].count("changed since") == 1
    manifest = read_manifest(tmp_path / "kept")
    write_manifest(tmp_path / "kept", manifest | {"sources": "others"})
    assert "another version" in said_by(["resume", "kept"], capsys)[1]
    write_manifest(tmp_path / "kept", manifest | {"format": 2})
    status, text = said_by(["resume", "kept"], capsys)
    assert status == 2
    assert "format 2" in text
    assert json.loads((tmp_path / "kept" / MANIFEST).read_text())["format"] == 2
