"""A time limit stops a run on all ranks at the same boundary; resumed, it has the same digest."""

import json

import numpy as np
import pytest
from mpi.machine.ranks import shared_folder

from mpinet.cli import kept
from mpinet.cli.session import CommandSession
from mpinet.experiments.journal import Journal
from mpinet.machine.transport import world

COMMANDS = [
    "route torus:6x7 --pairs random:300 --seed 5 --ports one --policy fifo",
    "broadcast torus:5x4x3 --root 7 --schedule",
    "flood lens:3,4,3 --root 2",
    "flood path:3",  # fewer processors than ranks, or as many
    "load ring:8 --rate 0.1..0.3/3 --steps 60",
    "find --processors 16 --degree 3 --search --moves 200",
]


class AtOnce:
    """A timer whose time is over as soon as it starts."""

    def __init__(self, seconds, act):
        assert 0 <= seconds <= 5
        self._act, self.daemon = act, False

    def start(self):
        self._act()

    def cancel(self):
        """Nothing runs."""


def run(capfd, words: str) -> tuple[int, str]:
    """The status on this rank, and the digest of the printed document, on rank 0."""
    capfd.readouterr()
    status = CommandSession([*words.split(), "--json"]).run()
    printed = capfd.readouterr().out
    return status, json.loads(printed)["digest"] if printed and status == 0 else ""


@pytest.mark.parametrize("command", COMMANDS)
def test_a_run_stopped_by_its_limit_goes_on_to_the_digest_of_a_whole_run(
    command, monkeypatch, capfd
):
    ranks = world()
    whole = run(capfd, command)
    assert whole[0] == 0
    with shared_folder() as folder:
        place = folder / "kept"
        with monkeypatch.context() as patched:
            patched.setattr(kept, "Timer", AtOnce)
            status, _ = run(capfd, f"{command} --checkpoint {place} --time-limit 5")
        # The ranks agree, although only rank 0 has a clock that decides.
        told = np.zeros(ranks.size, np.int64)
        told[ranks.rank] = status
        told = ranks.sum(told)
        assert told.tolist() == [75] * ranks.size
        assert (place / "manifest.json").exists()
        # The typed limit holds again; another one replaces it.
        assert run(capfd, f"resume {place} --time-limit 1000") == whole
        ranks.sum(np.zeros(1))
        assert not place.exists()


def test_a_run_that_ends_before_its_limit_has_its_result(capfd):
    command = COMMANDS[0]
    with shared_folder() as folder:
        words = f"{command} --checkpoint {folder / 'kept'} --time-limit 1e9"
        assert run(capfd, words) == run(capfd, command)
        assert not (folder / "kept").exists()


def test_the_seconds_count_from_the_start_of_the_session(monkeypatch, capfd):
    left = []

    class Counting(AtOnce):
        def __init__(self, seconds, act):
            left.append(seconds)

        def start(self):
            """Let the run end by itself."""

    monkeypatch.setattr(kept, "Timer", Counting)
    with shared_folder() as folder:
        session = CommandSession(
            ["flood", "ring:8", "--checkpoint", str(folder / "kept"), "--time-limit", "30"]
        )
        session._began -= 10
        assert session.run() == 0
    assert 0 < left[0] <= 20


def test_a_search_for_networks_goes_on_from_its_finished_chains(monkeypatch, capfd):
    command, ranks = COMMANDS[-1], world()
    written, act = [], []
    write = Journal.write

    class Waiting(AtOnce):
        def start(self):
            act.append(self._act)

    def noted(journal, key, found):
        write(journal, key, found)
        written.append(key)
        for end in act:  # of rank 0 alone
            end()

    def pieces() -> int:
        """All pieces of work of all ranks since the last call."""
        done = int(ranks.sum(np.array([len(written)]))[0])
        written.clear()
        return done

    monkeypatch.setattr(Journal, "write", noted)
    with shared_folder() as folder:
        whole = run(capfd, f"{command} --journal {folder / 'whole'}")
        total = pieces()
        place = folder / "kept"
        with monkeypatch.context() as patched:
            patched.setattr(kept, "Timer", Waiting)
            assert run(capfd, f"{command} --checkpoint {place} --time-limit 5")[0] == 75
        before = pieces()
        act.clear()
        assert run(capfd, f"resume {place} --time-limit 1000") == whole
        assert 0 < before < total and pieces() == total - before
