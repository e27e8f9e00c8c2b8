"""Checkpoints: all open frames of a run in a folder, for a restart on any number of ranks.

All ranks write at once, one ``.npy`` file per rank and array, into a new subfolder. Then rank 0
writes ``manifest.json`` under another name and renames it. The manifest names the subfolder, and
only the manifest makes the files a checkpoint. The previous checkpoint is deleted afterwards, so
there is always a complete one. Nothing is pickled.

All ranks must decide alike when to write. A rank's request for a checkpoint is therefore part of
every collective (`Local.wish`). At a boundary, all ranks evaluate the requests of their last
collective. If the run made no collective since the previous boundary, the ranks perform one.

A piece of work among many, such as one run of a curve, is a part. A part has its own checkpoint
folder within the folder of the whole run. Only the ranks of the part write there, and other ranks
may resume the part. The steps of a part are short. Even with a checkpoint at every boundary, a part
therefore waits for checkpoints at most a tenth of its time, by the clock of its first rank.
"""

from __future__ import annotations

import json
import math
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from numbers import Number
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from mpinet.errors import FileError, MpinetError, OutputError, Suspended
from mpinet.machine.checkpointfiles import (
    FORMAT,
    LOCK,
    MANIFEST,
    WRITER,
    FolderLock,
    files_of,
    holder,
    sync,
    write_array,
    wrong_with,
)
from mpinet.machine.checkpointfiles import (
    read_manifest as read_manifest,
)
from mpinet.machine.checkpointrows import SavedFields, foreign
from mpinet.machine.state import (
    Fields,
    Frame,
    Kind,
    Numbered,
    Same,
    machine_state,
    restore_machine,
)
from mpinet.machine.transport import GO_ON, STOP, Local

# At most ten minutes are lost, at the cost of 2 % of the time for writing.
EVERY = 600.0
"""Default number of seconds between checkpoints."""

SHARE = 50
"""Minimum ratio of running time to checkpointing time, unless the user gives an interval."""

PART_SHARE = 10
"""Minimum ratio of running time to checkpointing time for parts, even with checkpoints at every
boundary.
"""

PARTS = "parts"
"""Name of the folder that contains a folder for each part."""


class Checkpointer:
    """Writes a run's checkpoints, and restores the state of a resumed run.

    Parameters
    ----------
    folder : Path
        Folder of the checkpoints, visible to the hosts of all ranks.
    header : dict
        Description of the run for the manifest: any JSON value.
    transport : Local
        The ranks.
    every : float, optional
        Seconds between two checkpoints; 0: one at every boundary. Default: `EVERY`, or longer if
        writing takes long (`SHARE`).
    found : dict, optional
        The manifest of the run to resume (`read_manifest`).
    clock : callable
        Function that returns a time in seconds.
    """

    def __init__(
        self,
        folder: Path,
        header: dict[str, Any],
        transport: Local,
        every: float | None = None,
        found: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ):
        self.folder, self.header = folder, header
        self._transport, self._every, self._clock = transport, every, clock
        self._due = clock() + (EVERY if every is None else every)
        self._frames: list[Frame] = []
        self._children = 0
        self.found: dict[str, Any] | None = found
        """Manifest of the state to resume from; `begin` replaces it by the newest manifest."""
        self._outer: Checkpointer | None = None
        self._rests = -math.inf
        self._state: str | None = found["state"] if found else None
        self._pending: list[dict[str, Any]] = found["frames"] if found else []
        self._depth = 0
        self._since = 0.0
        self._calls = -1
        self._hold: FolderLock | None = None
        self._first = 1
        self.written: list[tuple[int, float, int]] = []
        """Step of each checkpoint, seconds that the run waited for it, and this rank's bytes."""

    @property
    def journal(self) -> Path:
        """Folder of the journal in which each rank records finished work."""
        return self.folder / "journal"

    @property
    def last(self) -> dict[str, Any] | None:
        """Step of this run's last checkpoint, and its age in seconds; None before the first one."""
        if not self.written:
            return None
        return {"step": self.written[-1][0], "ago": round(self._clock() - self._since, 2)}

    @contextmanager
    def part(self, name: str, transport: Local) -> Iterator[None]:
        """Checkpoint the work of this context as a part with this name (collective).

        Parameters
        ----------
        name : str
            Name of the part, the same in a resumed run.
        transport : Local
            The ranks of the part: all ranks of this keeper, or this rank alone.
        """
        header = self.header | {"part": name}
        keeper = Checkpointer(
            self._folder_of(name), header, transport, self._every, clock=self._clock
        )
        keeper._outer = self
        began = self._clock()
        try:
            keeper._agree(keeper._take_part() if transport.rank == 0 else "", FileError)
            keeper._share_found()
            keeper._rest(self._clock() - began)
            keeper._due = max(keeper._due, keeper._whole._rests)
            before, transport.keeper = transport.keeper, keeper
            try:
                yield
                keeper.finish()
            finally:
                transport.keeper = before
        finally:
            keeper.release()

    def drop(self, name: str) -> None:
        """Delete a part whose results are recorded elsewhere; called by one rank."""
        shutil.rmtree(self._folder_of(name), ignore_errors=True)

    def _folder_of(self, name: str) -> Path:
        """Return the folder of a part."""
        return self.folder / PARTS / name

    def _hear(self) -> None:
        """Forward the checkpoint requests of the enclosing keeper's ranks to this part's ranks."""
        if self._outer is None:
            return
        self._outer._hear()
        around = self._outer._transport
        if around is not self._transport:
            self._transport.wish = max(self._transport.wish, around.heard())

    def enter(self, frame: Frame) -> None:
        """Open a frame; restore it if it was open in the checkpoint to resume from (collective)."""
        parent = self._frames[-1] if self._frames else None
        # The ordinal among its parent's frames identifies a frame: a resumed run opens the same
        # frames in the same order.
        frame.ordinal = parent.children if parent else self._children
        if parent:
            parent.children += 1
        else:
            self._children += 1
        self._frames.append(frame)
        depth = len(self._frames) - 1
        # Saved frames are restored outermost first, each when the resumed run opens it.
        if self._depth < len(self._pending) and depth == self._depth:
            self._restore(frame, self._pending[depth])

    def leave(self, frame: Frame) -> None:
        """Close the frame opened last."""
        self._frames.pop()
        if len(self._frames) < self._depth:
            self._depth, self._pending = 0, []

    def finish(self) -> None:
        """Check at the end of a run that all frames of the checkpoint have been restored.

        Raises
        ------
        FileError
            Some frames were not restored: the checkpoint belongs to another run.
        """
        if self._depth < len(self._pending):
            raise foreign(self.folder)

    def poll(self) -> None:
        """Write a checkpoint if one is due or requested by any rank (collective).

        Raises
        ------
        Suspended
            The request was to end the run after the checkpoint.
        """
        transport = self._transport
        # A part's ranks may be fewer than the job's; signals to other ranks must reach this part.
        self._hear()
        # One clock decides: hosts' clocks differ, and all ranks must write at the same boundary.
        if transport.rank == 0 and self._frames and self._clock() >= self._due:
            transport.wish = max(transport.wish, GO_ON)
        # Requests travel with collectives: make one if the run has made none since the last
        # boundary.
        if transport.calls == self._calls:
            transport.sum(np.zeros(1, np.int64))
        always = self._every == 0 and self._outer is None and self._frames  # else: done
        wanted = max(transport.asked, GO_ON if always else 0)
        if wanted:
            if self._depth == len(self._pending):
                self._write()
            else:  # the run has not yet reached the saved state: keep the later one
                self._due = self._clock() + EVERY
            # Cleared only now: a request received during the write is for the next boundary.
            transport.granted(wanted)
            if wanted == STOP:
                raise self.suspended()
        self._calls = transport.calls

    def meet(self) -> None:
        """Perform a collective of all ranks, then poll (collective)."""
        self._transport.sum(np.zeros(1, np.int64))
        self.poll()

    def suspended(self) -> Suspended:
        """Return the exception that ends a run on request, after its checkpoint was written."""
        if self._outer is not None:
            return self._outer.suspended()
        return Suspended(
            f"Stopped as asked, with a checkpoint: mpinet resume {quote(str(self.folder))} goes on."
        )

    @property
    def _steps(self) -> int:
        """Step count of the outermost open frame with a nonzero count."""
        return next((frame.steps for frame in self._frames if frame.steps), 0)

    def _write(self) -> None:
        """Write all open frames (collective).

        Raises
        ------
        OutputError
            On all ranks: a rank failed to write.
        """
        began = self._clock()
        name = f"state-{self._next()}"
        into = self.folder / name
        parts: dict[str, Any] = {}
        frames, trouble, size = [], "", 0
        try:
            # Each state has its own folder, so the last complete state stays readable until the new
            # state is complete.
            into.mkdir(exist_ok=True)  # a deleted checkpoint folder is not created again
            for depth, fields in enumerate(self._states()):
                frame = self._frames[depth]
                plain = {}
                for field, value in fields.items():
                    key = f"{depth}-{frame.name}.{field}"
                    if isinstance(value, Kind):
                        parts[key] = self._written(into, key, value)
                    else:
                        plain[field] = value
                frames.append(
                    {
                        "name": frame.name,
                        "ordinal": frame.ordinal,
                        "children": frame.children,
                        "known": frame.known,
                        "plain": plain,
                        "steps": frame.steps,
                    }
                )
            size = sum(file["bytes"] for file in files_of(parts))
            # Names must be on the disk before the manifest that lists them.
            sync(into)
        except OSError as error:
            trouble = self._lost() or f"Cannot write the checkpoint {into}: {error.strerror}."
        self._commit(name, frames, parts, trouble)
        took = self._clock() - began
        self._note(self._steps, took, size)
        self._due = self._rest(took)

    @property
    def _whole(self) -> Checkpointer:
        """The keeper of the whole run: the outermost enclosing keeper, or this keeper."""
        return self if self._outer is None else self._outer._whole

    def _rest(self, took: float) -> float:
        """Return the time of the next checkpoint; other parts write none before that time."""
        due = self._clock() + self._pause(took)
        self._whole._rests = max(self._whole._rests, due)
        return due

    def _pause(self, took: float) -> float:
        """Return the seconds to wait after a checkpoint whose writing took `took` seconds."""
        if self._every is None:
            # The interval grows with the cost of writing: checkpoints never dominate a run.
            return max(EVERY, SHARE * took)
        return PART_SHARE * took if self._outer is not None and not self._every else self._every

    def _note(self, step: int, took: float, size: int) -> None:
        """Record a written checkpoint, here and in the enclosing keepers."""
        self.written.append((step, took, size))
        self._since = self._clock()
        if self._outer is not None:
            self._outer._note(step, took, size)

    def _next(self) -> int:
        """Return the number of the next state's folder, above the number of the current state."""
        return max(self._first, 1 + _number(self._state))

    def _states(self) -> Iterator[Fields]:
        """Yield the fields of each open frame; a machine's fields come with its innermost frame."""
        for depth, frame in enumerate(self._frames):
            fields = dict(frame.state())
            machine = frame.machine
            if machine and all(later.machine is not machine for later in self._frames[depth + 1 :]):
                fields |= {MACHINE + k: v for k, v in machine_state(machine).items()}
            yield fields

    def _written(self, into: Path, key: str, kind: Kind) -> dict[str, Any]:
        """Write this rank's share of a field; return the share's entry for the manifest."""
        rank = self._transport.rank
        value = kind.value
        if not isinstance(value, np.ndarray):
            return {"number": int(value)}
        if isinstance(kind, Same) and rank > 0:
            return {}
        part = {"rows": write_array(into / f"{key}.{rank:05}.npy", value)}
        if isinstance(kind, Numbered):
            keys = kind.keys
            first = int(keys[0]) if len(keys) else 0
            # Contiguous blocks need no file of keys, which would double the bytes.
            if np.array_equal(keys, np.arange(first, first + len(keys))):
                part["from"] = {"first": first, "count": len(keys)}
            else:
                part["keys"] = write_array(into / f"{key}.keys.{rank:05}.npy", keys)
        return part

    def _commit(
        self, name: str, frames: list[dict[str, Any]], parts: dict[str, Any], trouble: str
    ) -> None:
        """Make the state written by all ranks the current checkpoint (collective)."""
        transport = self._transport
        # Errors of all ranks are known before the manifest is written: an incomplete state must
        # never become current.
        said = transport.gather(json.dumps([trouble, parts]).encode())
        if transport.rank == 0:
            every = [json.loads(text) for text in said]
            trouble = next((text for text, _ in every if text), "")
            trouble = trouble or self._make_current(name, frames, [part for _, part in every])
            if trouble:  # free the disk space for a resumed run
                shutil.rmtree(self.folder / name, ignore_errors=True)
        self._agree(trouble, OutputError)
        self._state = name

    def _make_current(
        self, name: str, frames: list[dict[str, Any]], parts: list[dict[str, Any]]
    ) -> str:
        """Write the manifest and delete the older checkpoint; return an error message or ""."""
        # The manifest may only name files visible to rank 0: a folder on a local disk is not shared
        # by the hosts.
        for file in (file for part in parts for file in files_of(part)):
            path = self.folder / name / file["file"]
            if not path.is_file():
                return (
                    f"The checkpoint {path.parent} is incomplete: {path.name} is missing. The "
                    "hosts of all ranks must share this folder."
                )
        if trouble := self._make_known(self._manifest(name, frames, parts)):
            return trouble
        # The new manifest is in place: from here on no run resumes from an older state.
        self._delete_below(_number(name))
        return ""

    def _make_known(self, manifest: dict[str, Any]) -> str:
        """Write the manifest; return an error message, or an empty text."""
        assert self._hold is not None
        try:
            self._hold.write(manifest)
        except OSError as error:
            return self._lost() or f"Cannot write {self.folder / MANIFEST}: {error.strerror}."
        return ""

    def _lost(self) -> str:
        """Return why the folder no longer belongs to this job; empty if it still does."""
        if self._hold is None or not self._hold.is_lost:
            return ""
        if any(self.folder.glob(f"{WRITER}*")):
            return f"The checkpoint {self.folder} belongs to another job now, which resumed it."
        return f"The checkpoint {self.folder} is gone: it was deleted or moved while the job ran."

    def _delete_others(self, name: str | None) -> None:
        """Delete the folders of all states except `name`: old or unfinished states."""
        for path in self.folder.glob("state-*"):
            if path.name != name:
                shutil.rmtree(path, ignore_errors=True)

    def _delete_below(self, number: int) -> None:
        """Delete states with smaller numbers; larger numbers may belong to a job that took over."""
        for path in self.folder.glob("state-*"):
            if _number(path.name) < number:
                shutil.rmtree(path, ignore_errors=True)

    def begin(self) -> None:
        """Take over the folder, or check its contents, before any other work (collective).

        A run that ends before its first checkpoint leaves a manifest without any state.

        Raises
        ------
        FileError
            On all ranks: the folder contains something else, or damaged files.
        OutputError
            On all ranks: the folder is not writable.
        """
        is_first = self._transport.rank == 0
        if self.found is not None:
            self._agree(self._take_again() if is_first else "", FileError)
            self._share_found()
            self._check()
            return
        self._agree(self._take_folder() if is_first else "", FileError)
        self._agree(self._make_known(self._manifest(None, [], [])) if is_first else "", OutputError)

    def _take_folder(self) -> str:
        """Create the folder, or check that it is empty; return an error message or ""."""
        folder = self.folder
        try:
            folder.mkdir(exist_ok=True)
            # A folder with other files is not even locked: a lock file would stay behind in a
            # stranger's folder.
            if (folder / MANIFEST).exists() or not self._others_in(folder):
                self._hold = FolderLock(folder)
            if (folder / MANIFEST).exists():
                return (
                    f"--checkpoint {folder}: the folder already contains a checkpoint. Run mpinet "
                    f"resume {quote(str(folder))} to continue from it, or delete the folder."
                )
            if self._others_in(folder):
                return f"--checkpoint {folder}: the folder is not empty; name another folder."
            assert self._hold is not None
            self._hold.begin()
        except BlockingIOError:
            return self._in_use()
        except OSError as error:
            return f"--checkpoint {folder}: {error.strerror}."
        return ""

    @staticmethod
    def _others_in(folder: Path) -> bool:
        """Return True if a folder contains more than the possible remains of a killed job."""
        return any(
            path.name != LOCK and not path.name.startswith(WRITER) for path in folder.iterdir()
        )

    def _take_again(self) -> str:
        """Lock the folder of the run to resume; return an error message, or an empty text."""
        began = self.found
        assert began is not None
        return self._take_up(lambda found: all(found.get(k) == began.get(k) for k in self.header))

    def _take_part(self) -> str:
        """Lock the folder of a part and read its manifest; return an error message or ""."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            return self._unusable(error)
        return self._take_up(lambda found: True)

    def _take_up(self, is_own: Callable[[dict[str, Any]], bool]) -> str:
        """Lock a folder and read its last manifest; return an error message, or an empty text."""
        try:
            # The lock comes before reading: another job may be replacing the manifest right now.
            self._hold = FolderLock(self.folder, again=True)
            skips = self._hold.begin()
            if self.found is not None or (self.folder / MANIFEST).exists():
                found = read_manifest(self.folder)
                if not is_own(found):
                    return self._in_use()
                self.found = found
        except BlockingIOError:
            return self._in_use()
        except FileError as error:
            return str(error)
        except OSError as error:
            return self._unusable(error)
        state = self.found["state"] if self.found else None
        self._delete_others(state)
        # A job that has lost the lock may still be writing the state with the next number: skip
        # this number.
        self._first = _number(state) + (2 if skips else 1)
        return ""

    def _unusable(self, error: OSError) -> str:
        where = f"{LOCK}: " if self._outer is None else ""
        return f"The checkpoint {self.folder} cannot be used: {where}{error.strerror}."

    def _share_found(self) -> None:
        """Distribute the manifest found by rank 0, if any, to all ranks (collective)."""
        text = json.dumps([self.found, self._first])
        self.found, self._first = json.loads(self._transport.share(text.encode()))
        if self.found is not None:
            self._state, self._pending = self.found["state"], self.found["frames"]

    def _in_use(self) -> str:
        other = holder(self.folder)
        who = f"process {other['process']} on {other['host']}" if other else "another job that runs"
        return f"The checkpoint {self.folder} is in use: {who} writes it."

    def release(self) -> None:
        """Release the folder for other jobs."""
        if self._hold is not None:
            self._hold.release()

    def _agree(self, trouble: str, kind: type[MpinetError]) -> None:
        """Raise rank 0's error, if any, on all ranks (collective)."""
        trouble = self._transport.share(trouble.encode()).decode()
        if trouble:
            raise kind(trouble)

    def _manifest(
        self, name: str | None, frames: list[dict[str, Any]], parts: list[dict[str, Any]]
    ) -> dict[str, Any]:
        """Return the manifest of a state: its header, frames, and every rank's files."""
        return {
            "format": FORMAT,
            **self.header,
            "ranks": self._transport.size,
            "step": self._steps,
            "state": name,
            "frames": frames,
            "parts": parts,
        }

    def forget(self) -> None:
        """Delete the checkpoint on rank 0, at the end of the run."""
        if self._hold is None:
            return
        if not self._hold.end():  # another job has taken over the checkpoint
            self._hold.release()
            return
        self._delete_below(self._next() + 1)
        shutil.rmtree(self.journal, ignore_errors=True)
        shutil.rmtree(self.folder / PARTS, ignore_errors=True)
        self._hold.release(delete=True)
        try:
            self.folder.rmdir()
        except OSError:
            return  # the folder contains other files, such as a journal

    def _check(self) -> None:
        """Check all files of the state to resume from, including parts, divided among the ranks."""
        files, wrong = [], ""
        try:
            if self._transport.rank == 0:
                files = self._files()
        except FileError as error:
            wrong = str(error)
        self._agree(wrong, FileError)
        files = json.loads(self._transport.share(json.dumps(files).encode()))
        # The ranks share the work of hashing: each file is read by one rank.
        for name, file in files[self._transport.rank :: self._transport.size]:
            wrong = wrong or wrong_with(self.folder / name, file)
        gathered = self._transport.gather(wrong.encode())
        wrong = next((text.decode() for text in gathered if text), "")
        sentence = wrong and f"The checkpoint {self.folder} cannot be used: {wrong}."
        self._agree(sentence, FileError)

    def _files(self) -> list[tuple[str, dict[str, Any]]]:
        """Return the names of all files below the folder, each with its entry in a manifest."""
        found = []
        for path in [self.folder, *(p.parent for p in self.folder.rglob(f"{PARTS}/*/{MANIFEST}"))]:
            manifest = read_manifest(path)
            state = path.relative_to(self.folder) / str(manifest["state"])
            for part in manifest["parts"]:
                found += [(str(state / file["file"]), file) for file in files_of(part)]
        return found

    def _restore(self, frame: Frame, saved: dict[str, Any]) -> None:
        """Restore a frame if it is the saved frame of this depth."""
        depth = self._depth
        # A frame before the saved frame was already finished; the resumed run passes through it
        # without state.
        if frame.ordinal < saved["ordinal"]:
            return
        if (frame.ordinal, frame.name) != (saved["ordinal"], saved["name"]):
            raise foreign(self.folder)
        # If a loop inside this frame was also open, the resumed run opens and counts it again.
        deeper = depth + 1 < len(self._pending)
        frame.children = saved["children"] - deeper
        frame.known = dict(saved["known"])
        assert self.found is not None
        written = SavedFields(self.folder, self.found, self._transport)
        # The fields of the fresh frame determine the expected kinds. A file therefore cannot choose
        # its own kind.
        template = dict(frame.state())
        if frame.machine and any(key.startswith(MACHINE) for key in saved["plain"]):
            template |= {MACHINE + k: v for k, v in machine_state(frame.machine).items()}
        try:
            found = {
                name: written.field(frame, f"{depth}-{frame.name}.{name}", field)
                if isinstance(field, Kind)
                else self._plain(saved["plain"][name], field)
                for name, field in template.items()
            }
        except KeyError:
            raise foreign(self.folder) from None
        own = {k.removeprefix(MACHINE): v for k, v in found.items() if k.startswith(MACHINE)}
        frame.restore({k: v for k, v in found.items() if not k.startswith(MACHINE)})
        if frame.machine and own:
            restore_machine(frame.machine, own)
        self._depth += 1

    def _plain(self, value: Any, like: Any) -> Any:
        """Return a value from the manifest, checked against the type of the frame's value."""
        sorts = (Number, str, (list, tuple), dict, type(None))
        alike = any(isinstance(value, sort) and isinstance(like, sort) for sort in sorts)
        if not alike and like is not None and value is not None:
            raise foreign(self.folder)
        return value


def _number(state: str | None) -> int:
    """Return the number in the name of a state's folder; 0 without a number."""
    number = (state or "").partition("-")[2]
    return int(number) if number.isdecimal() else 0


MACHINE = "machine "
"""Prefix of a machine's own fields among the fields of its frame."""
