"""A run that was stopped between two steps goes on, on any ranks and mapping, to its digest."""

import json
import shutil
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from mpi.machine.ranks import shared_folder, some_ranks

from mpinet.cli.commands import parse
from mpinet.errors import FileError, Suspended
from mpinet.jobs import module_of
from mpinet.machine.checkpoint import Checkpointer, read_manifest
from mpinet.machine.traffic import run as runs
from mpinet.machine.transport import STOP, Local, alone, world
from mpinet.report.envelope import digest

COMMANDS = [
    "route hypercube:6 --pairs all --mode ideal --paths",
    "route torus:6x7 --pairs random:300 --seed 5 --ports one --policy fifo",
    "route hypercube:6 --pairs hotspot:9 --faults node:3,link:0-1",
    "flood lens:3,4,3 --root 2",
    "show torus:30x40 --distances",
    "show mesh:23x31 --sample 9 --exact",
    "broadcast torus:5x4x3 --root 7 --schedule",
    "broadcast ccc:4 --algorithm tree",
    "gossip torus:3x5 --seed 4",
    "gossip ccc:3 --seed 2",
    "scatter ccc:3 --root 5",
    "gather mesh:3x4 --root 7 --ports all",
    "reduce lens:3,3,3 --ports all --operator max",
    "allreduce torus:3x4 --items 7 --operator sum",
    "allreduce mesh:4x4 --operator sum",
    "ascend hypercube:6 --operator fft --ports one",
    "descend torus:4x4 --operator bitonic-sort --algorithm routed",
    "embed hypercube:4 torus:5x4 --program ascend --operator fft",
]
"""Each of another kind of state."""

MORE = [
    "route hypercube:6 --pairs all",
    "route torus:6x7 --pairs random:300 --policy fifo --duplex half",
    "flood debruijn:6 --root 5",
    "show fattree:3,4 --distances",
    "broadcast debruijn:5 --algorithm passes",
    "broadcast lens:3,3,2 --ports all",
    "gossip ring:3*mesh:3x3 --ports all",
    "gossip fattree:2,3",
    "gossip petersen --ports all --algorithm rarest",
    "gossip torus:5x4 --ports all --algorithm translations",
    "scatter torus:3x4 --algorithm flow --ports all",
    "exchange debruijn:4",
    "reduce gbsn:2,m=4-4-4-3-7,a=1 --root 9 --operator sum",
    "descend bsn:2,2,5 --operator bitonic-sort --algorithm unaligned",
    "circulate gbsn:2,m=4-4-4-4,a=1 --dimensions 3",
    "embed bsn:2,2,4 gbsn:2,m=4-4-4-3-7,a=1 --ports one",
]

EVERY = [*COMMANDS, *(pytest.param(command, marks=pytest.mark.long) for command in MORE)]


class Stopping(Checkpointer):
    """Stops a run at one of its boundaries: the last rank wishes for it shortly before."""

    def __init__(self, at: int, *given):
        super().__init__(*given)
        self._left = at
        self._wish()

    def _wish(self):
        ranks, rank = self._transport.size, self._transport.rank
        if rank == ranks - 1 and self._left == min(1, ranks - 1):
            self._transport.wish = STOP

    def poll(self):
        self._left -= 1
        self._wish()
        super().poll()


def quiet(*done: int) -> None:
    """Show no progress."""


def outcome(command: str, transport: Local, watch=quiet) -> str:
    options = parse(command.split())
    job = module_of(options.command).prepare(options)
    transport.sum(np.zeros(1))  # as of a launched command: all have prepared before one runs
    return digest(job.lasting(job.run(transport, watch)))


@cache
def undisturbed(command: str) -> str:
    return outcome(command, Local())


def kept(keeper: Checkpointer, transport: Local, command: str, watch=quiet) -> str | None:
    """The digest of a run with checkpoints; None where it was stopped."""
    transport.keeper = keeper
    try:
        keeper.begin()
        found = outcome(command, transport, watch)
        keeper.finish()
        return found
    except Suspended:
        return None
    finally:
        keeper.release()
        transport.keeper, transport.wish = None, 0


@pytest.mark.parametrize("command", EVERY)
def test_a_stopped_run_goes_on_to_the_digest_of_one_that_never_stopped(command):
    everybody = world()
    with shared_folder() as folder:
        place = folder / "whole"
        at = 1 if command.startswith("show") else 2  # floods of 512 nodes together are one step
        found = kept(Stopping(at, place, {}, everybody), everybody, command)
        assert found is None, "it ended before it was stopped"
        for ranks, more in ((1, ""), (2, " --mapping random"), (everybody.size, "")):
            transport, inside = some_ranks(min(ranks, everybody.size))
            if inside:
                keeper = Checkpointer(place, {}, transport, 1e6, read_manifest(place))
                again = kept(keeper, transport, command + more)
                assert transport.rank != 0 or again == undisturbed(command)
            everybody.sum(np.zeros(1))


@pytest.mark.costly
@pytest.mark.parametrize("command", EVERY)
def test_a_run_of_one_rank_goes_on_with_all_and_is_stopped_again(command):
    everybody = world()
    with shared_folder() as folder:
        place = folder / "one"
        if everybody.rank == 0:
            alone = Local()
            assert kept(Stopping(1, place, {}, alone), alone, command) is None
        everybody.sum(np.zeros(1))
        stopping = Stopping(2, place, {}, everybody, 0.0, read_manifest(place))
        found = kept(stopping, everybody, command + " --mapping random")
        if found is None:
            found = kept(
                Checkpointer(place, {}, everybody, 0.0, read_manifest(place)), everybody, command
            )
        assert everybody.rank != 0 or found == undisturbed(command)


OPERATOR = """
import numpy as np
from mpinet.programs.operators import Operator

class Gcd(Operator):
    name = "gcd"

    def oper(self, j, i, low, high):
        both = np.gcd(low, high)
        return both, both

    def expected(self, values):
        return np.full_like(values, np.gcd.reduce(values))
"""

STEPPED = [
    "ascend hypercube:8 --operator {folder}/gcd.py:Gcd",  # dimensions below 2^7 need no other rank
    "descend ring:16 --operator {folder}/gcd.py:Gcd",
    "flood ring:16",
    "gossip mesh:3x3",
]


class Counting(Checkpointer):
    """Counts a run's boundaries; behind one of them the last rank wishes for the end."""

    def __init__(self, last: int | None, *given):
        super().__init__(*given)
        self._last, self.boundaries = last, 0

    def poll(self):
        self.boundaries += 1
        super().poll()
        if self.boundaries == self._last and self._transport.rank == self._transport.size - 1:
            self._transport.wish = STOP


@pytest.mark.parametrize("command", STEPPED)
def test_a_checkpoint_is_written_at_every_boundary_and_a_run_ends_at_the_next(command):
    everybody = world()
    with shared_folder() as folder:
        if everybody.rank == 0:
            (folder / "gcd.py").write_text(OPERATOR)
        everybody.sum(np.zeros(1))
        typed = command.format(folder=folder)
        every = Counting(None, folder / "every", {}, everybody, 0)
        assert kept(every, everybody, typed) is not None
        assert len(every.written) == every.boundaries > 3
        ending = Counting(2, folder / "ending", {}, everybody)
        assert kept(ending, everybody, typed) is None
        assert (ending.boundaries, len(ending.written)) == (3, 1)


WINDOW = "--warmup 5 --steps 10 --limit 20"
PLAN = """
command = "flood"
topology = ["ring:8", "torus:4x4"]
root = [0, 1, 2, 3, 4, 5, 6, 7]
"""
LISTS = {
    f"load ring:5 --rate 0.01..0.2/24 {WINDOW}": 24 + 1,  # and overload
    f"load torus:9x8 --rate 0.01..0.12/12 {WINDOW}": 12 + 1,
    f"load ring:5 ring:6 --pattern uniform,tornado --seeds 4 --rate 0.1 {WINDOW}": 2 * 2 * 4,
    "verify GBSN-S2-bsn-links": None,
    "sweep {folder}/plan.toml --out {folder}/runs": 2 * 8,
}
"""Work that writes down at once what it has found, and how many findings it comes to."""


def findings(folder: Path) -> list[str]:
    """The lines of all journals below a folder, but for those of parts."""
    found = [path for path in folder.rglob("*.jsonl") if "parts" not in path.parts]
    return [line for path in found for line in path.read_text().splitlines()]


@pytest.mark.parametrize("command", LISTS)
def test_a_stopped_list_goes_on_with_what_is_left_of_it(command):
    everybody, total = world(), LISTS[command]
    with shared_folder() as folder:
        if everybody.rank == 0:
            (folder / "plan.toml").write_text(PLAN)
        everybody.sum(np.zeros(1))
        typed = command.format(folder=folder)

        place, counts = folder / "list", []

        def go_on(transport: Local, stop: bool) -> str | None:
            def asked(*far: int) -> None:
                if len(findings(folder)) > (counts[-1] if counts else 0):
                    transport.wish = STOP

            found = read_manifest(place) if counts else None
            keeper = Checkpointer(place, {}, transport, found=found)
            return kept(keeper, transport, typed, asked if stop else quiet)

        def count() -> None:
            everybody.sum(np.zeros(1))
            counts.append(len(findings(folder)))
            everybody.sum(np.zeros(1))

        assert go_on(everybody, stop=True) is None, "it ended before it was stopped"
        count()
        if everybody.rank == 0:
            with alone():
                assert go_on(Local(), stop=True) is None, "it ended before it was stopped again"
        count()
        again = go_on(everybody, stop=False)
        count()
        first, second, end = counts
        assert 0 < first <= everybody.size < end
        assert second == first + 1
        assert total is None or end == total
        if everybody.rank == 0:
            assert len(set(findings(folder))) == end, "something was done again"
            shutil.rmtree(folder / "runs", ignore_errors=True)
            assert again == undisturbed(typed)
        everybody.sum(np.zeros(1))


class Watched(runs.OpenLoop):
    """A run that sees how far it was when it began, and asks for the end of all at a step."""

    at = -1
    begun: list[int]
    everybody: Local

    def advance(self, steps):
        if not hasattr(self, "seen"):
            self.seen = True
            self.begun.append(self.steps)
        if self.steps == self.at:
            if self.everybody.rank == 0:
                self.everybody.wish = STOP
            elif self.machine.transport.size == 1:  # the others go on until they are told
                while self.everybody.heard() != STOP:
                    time.sleep(0.001)
        super().advance(steps)


@pytest.fixture
def watched(monkeypatch):
    monkeypatch.setattr(runs, "AT_ONCE", 1)
    monkeypatch.setattr("mpinet.experiments.load.OpenLoop", Watched)
    monkeypatch.setattr(Watched, "begun", [], raising=False)
    monkeypatch.setattr(Watched, "everybody", world(), raising=False)
    monkeypatch.setattr(Watched, "at", 12)
    return Watched


ONE, CURVE = f"load torus:4x4 --rate 0.2 {WINDOW}", f"load ring:5 --rate 0.05..0.4/8 {WINDOW}"
CURVES = f"load ring:5 ring:6 --pattern uniform,tornado --seeds 2 --rate 0.1,0.2 {WINDOW}"


@contextmanager
def stopped(command, everybody):
    """The folder of a command's runs that were stopped while they were under way."""
    with shared_folder() as folder:
        place = folder / "runs"
        assert kept(Checkpointer(place, {}, everybody), everybody, command) is None
        everybody.sum(np.zeros(1))
        yield place


@pytest.mark.parametrize("command", [ONE, CURVE, CURVES])
def test_runs_under_way_are_saved_and_others_go_on_with_them(command, watched):
    everybody = watched.everybody
    with stopped(command, everybody) as place:
        parts = [json.loads(path.read_text()) for path in place.rglob("parts/*/manifest.json")]
        left_at = [part["step"] for part in parts if part["frames"]]
        assert watched.at + 1 in left_at
        everybody.sum(np.zeros(1))
        watched.begun.clear()
        watched.at = -1
        found = kept(
            Checkpointer(place, {}, everybody, found=read_manifest(place)), everybody, command
        )
        begun = everybody.sum(np.bincount(watched.begun, minlength=99))
        together = everybody.size if command == ONE else 1
        assert begun[1:].tolist() == (np.bincount(left_at, minlength=99) * together).tolist()[1:]
        assert everybody.rank != 0 or found == undisturbed(command)


def test_runs_of_many_ranks_are_gone_on_with_by_one_and_stopped_again(watched):
    everybody = watched.everybody
    with stopped(CURVE, everybody) as place:
        if everybody.rank == 0:
            watched.begun.clear()
            watched.at = -1
            with alone():
                transport = Local()
                keeper = Checkpointer(place, {}, transport, found=read_manifest(place))
                assert kept(keeper, transport, CURVE) == undisturbed(CURVE)
            assert 13 in watched.begun


def test_a_part_that_is_not_as_it_was_written_is_refused(watched):
    everybody = watched.everybody
    with stopped(CURVE, everybody) as place:
        if everybody.rank == 0:
            file = next(place.rglob("*lanes*.npy"))
            data = bytearray(file.read_bytes())
            data[-1] ^= 1
            file.write_bytes(data)
        everybody.sum(np.zeros(1))
        keeper = Checkpointer(place, {}, everybody, found=read_manifest(place))
        with pytest.raises(FileError, match=r"lanes\.00000\.npy is damaged"):
            kept(keeper, everybody, CURVE)


def test_runs_wait_for_their_checkpoints_a_tenth_of_their_time_at_most(watched, monkeypatch):
    everybody, now, moments = watched.everybody, [0.0], []
    advance = watched.advance

    def step(run, steps):
        now[0] += 0.01
        advance(run, steps)

    def sync(folder):
        moments.append(now[0])
        now[0] += 0.5

    watched.at = -1
    monkeypatch.setattr(watched, "advance", step)
    monkeypatch.setattr("mpinet.machine.checkpoint.sync", sync)
    command = "load torus:4x4 --rate 0.2 --warmup 5 --steps 2000 --limit 20"
    with shared_folder() as folder:
        keeper = Checkpointer(folder / "runs", {}, everybody, 0.0, clock=lambda: now[0])
        found = kept(keeper, everybody, command)
        assert everybody.rank != 0 or found == undisturbed(command)
    assert len(moments) > 3
    assert min(np.diff(moments)) >= 10 * 0.5
