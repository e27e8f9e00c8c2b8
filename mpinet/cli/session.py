"""One run of a command: parse the words, run the job, print the result, and end with a status.

The module of a command on all ranks has ``prepare(options)``. This function checks everything
without MPI, and returns a `Job`. A command on this host only, for example one to start ranks, has
``act(options)``, which returns the exit status.
"""

from __future__ import annotations

import io
import json
import os
import sys
import time
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path
from threading import enumerate as enumerate_threads
from threading import main_thread
from typing import TYPE_CHECKING, Any

from mpinet.base.deadline import ending
from mpinet.base.files import write_text
from mpinet.base.launched import guarded, launched_rank, launched_ranks
from mpinet.base.memory import allowing, out_of_memory
from mpinet.cli.commands import parse, read
from mpinet.cli.kept import SavedRun
from mpinet.cli.signals import Signals
from mpinet.commands import function_of
from mpinet.commands.job import Failed, Job
from mpinet.commands.optionrecords import Options, values_of
from mpinet.commands.signature import signature_of
from mpinet.errors import (
    FileError,
    MpinetError,
    OutputError,
    RuleError,
    Unread,
    UsageError,
)
from mpinet.jobs import module_of
from mpinet.report.files import ENDINGS, as_csv, as_json, as_lines, require_file
from mpinet.report.output import Output, drop
from mpinet.report.progress import Progress

if TYPE_CHECKING:
    from mpinet.commands.result import Result

INTERRUPTED = 130

LAST_WORD = 1.0
"""Waiting time in seconds of all ranks but 0 before their exit, for rank 0 to print an error."""

LATE = 10.0
"""Seconds of the same wait if the ranks have not met yet. Rank 0 may still be starting, and the
launcher of Open MPI kills rank 0 if another rank has failed."""

PATIENCE = 1.0
"""Seconds that a rank with an error waits for errors of further ranks before aborting all ranks."""


class CommandSession:
    """One run of a command.

    Parameters
    ----------
    typed : list of str
        The words after ``mpinet``.
    signals : Signals, optional
        Checkpoint signals received since the process began.
    """

    def __init__(self, typed: list[str], signals: Signals | None = None):
        self._signals = signals
        self._typed = typed or ["--help"]
        # Errors before parsing are also printed as JSON if ``--json`` was typed.
        self._json = "--json" in typed
        self._found: dict[str, Any] | None = None
        self._job: Job | None = None
        self._began = time.perf_counter()
        self._out = Output(sys.stdout, "the standard output")
        self._err = Output(sys.stderr, "the standard error")

    def run(self) -> int:
        """Parse, run and print the command; return the exit status."""
        try:
            self._take(self._parse())
            if self._options.command == "resume":
                return self._resume()
            self._settle()
            if signature_of(function_of(self._options.command)).is_here:
                return self._here()
            with allowing(*self._options.allowance):
                job = self._prepare()
        except SystemExit as ended:
            return int(ended.code or 0)
        except (BrokenPipeError, MpinetError) as error:
            status, text = ended_by(error)
            if launched_rank() == 0:
                self._say_error(text, status)
            return status
        with allowing(*self._options.allowance):
            return self._run(job)

    def _take(self, options: Options) -> None:
        """Store the options of the command that this session runs."""
        self._options, self._line = options, options.line
        self._json = self._line.json  # a typed "--json" may belong to a script

    def _here(self) -> int:
        """Run a command that needs no ranks, on this host; return the exit status."""
        require_no_launcher(self._options.command)
        status: int = module_of(self._options.command).act(self._options)
        return status

    def _resume(self) -> int:
        """Continue the command of a checkpoint; return the command's exit status."""
        from mpinet.commands.resume import ResumeOptions
        from mpinet.jobs.checkpoints import require_inputs
        from mpinet.jobs.resume import taken_up

        assert isinstance(self._options, ResumeOptions)
        folder = self._options.folder
        try:
            resumed, found = taken_up(self._options, parse)
            require_inputs(folder, values_of(resumed), found)
        # A return here would leave all further ranks waiting in the first collective call.
        except FileError as error:  # this rank's host may differ from the others
            return self._run(Failed(error))
        self._typed, self._found = found["command"], found
        self._take(resumed)
        self._settle()
        with allowing(*resumed.allowance):
            return self._run(self._prepare())

    def _settle(self) -> None:
        """Set up signal handling and the guardian of this host's ranks, before the ranks meet."""
        # Without a checkpoint, SIGTERM has nothing to save, so the default handlers are restored.
        if self._line.checkpoint is not None:
            self._signals = self._signals or Signals()
        elif self._signals is not None:
            self._signals.hand_back()
        if self._line.watchdog is not None:
            # The guardian is a separate process, and gets its settings from the environment.
            os.environ["MPINET_WATCHDOG"] = f"{self._line.watchdog:g}"
        guarded()

    def _prepare(self) -> Job:
        """Prepare the job; an error on this rank only is raised later, when all ranks have met."""
        try:
            line, options = self._line, self._options
            if line.out is not None:
                require_file(line.out, ENDINGS, "a result's file")
            self._require_checkpoint()
            job: Job = module_of(options.command).prepare(options)
        except (FileError, RuleError) as error:  # caused by a file of this host
            return Failed(error)
        except MpinetError:
            raise
        except Exception as error:
            return Failed(error)
        return job

    def _require_checkpoint(self) -> None:
        """Raise `UsageError` for options of a checkpoint without a folder for it."""
        line, said = self._line, signature_of(function_of(self._options.command))
        saves = any(one.name == "checkpoint" and not one.typed.hidden for one in said.alone)
        for name in ("every", "time_limit"):
            if saves and line.checkpoint is None and getattr(line, name) is not None:
                typed = name.replace("_", "-")
                raise UsageError(f"--{typed} does not apply without --checkpoint.")

    def _parse(self) -> Options:
        """Parse the typed words."""
        said, heard = io.StringIO(), io.StringIO()
        try:
            # argparse prints and exits by itself. With many ranks, only rank 0 must print, and only
            # once.
            with redirect_stderr(said), redirect_stdout(heard):
                self._typed, options = read(self._typed)
        except SystemExit as ended:
            if ended.code:
                raise UsageError(_sentence(said.getvalue())) from None
            if launched_rank() == 0:
                self._out.write(heard.getvalue())
            raise
        return options

    def _run(self, job: Job) -> int:
        """Run the job on all ranks, and agree on the exit status; rank 0 prints the result."""
        import numpy as np

        from mpinet.base.native.background import waiting_by
        from mpinet.jobs.hosts import require_alike
        from mpinet.machine.transport import Local, Unmet, world

        transport: Local = Unmet()
        result, status, text = None, 0, ""
        self._job = job
        options = values_of(self._options)
        kept = SavedRun(self._line, options, self._typed, self._found, self._signals)
        try:
            transport = world()
            require_alike(options, transport)
            job.require_room(transport)
            with (
                self._progress(job) as progress,
                waiting_by(progress.waiting, progress.tell_wait),
                ending(self._line.time_limit, self._began),
                kept.by(transport),
            ):
                job.say, progress.command = progress.say, self._options.command
                job.warn, job.hush = self._warn, progress.hide
                progress.facts = lambda: {
                    "moving": transport.moving,
                    "checkpoint": kept.last(),
                }
                progress.slow = transport.slow
                result = job.run(transport, progress.update)
                job.keep(transport)
            transport.sum(np.zeros(1))  # another rank may still report an error
        except (Exception, KeyboardInterrupt) as error:
            status, text = ended_by(error)
        # All ranks exchange their statuses. Rank 0 prints the first error, and all ranks exit
        # alike.
        ends = transport.conclude(status, text, PATIENCE if status else None)
        # No answer: the other ranks are still in the run, and would wait forever for this rank.
        if not ends:
            self._say_error(f"rank {transport.rank}: {text}", status)
            transport.abort(status)
        failed = [end for end in ends if end[0] or end[1]]  # a script may abort with status 0
        if failed:
            if launched_rank() == 0:
                self._say_error(failed[0][1], failed[0][0])
            return failed[0][0]
        if transport.rank == 0:
            status = self._finish(job, result, transport.size)
            kept.forget()
            return status
        return 0

    def _progress(self, job: Job) -> Progress:
        """Make the progress display that the options request."""
        wanted = self._line.progress if launched_rank() == 0 else False
        return Progress(job.unit, wanted, launched_ranks() > 1)

    def _finish(self, job: Job, result: Any, ranks: int) -> int:
        """Print the result and the job's remarks; return the exit status."""
        try:
            self._show(job, result, ranks)
        except (BrokenPipeError, MpinetError, MemoryError) as error:
            status, text = ended_by(error)
            self._say_error(text, status)
            return status
        if not self._json:
            for remark in job.remarks(result):
                print(f"mpinet: {remark}", file=sys.stderr, flush=True)
        if shortfall := job.shortfall(result):
            print(f"mpinet: {shortfall}", file=sys.stderr, flush=True)
        return job.status(result)

    def _show(self, job: Job, found: Any, ranks: int) -> None:
        """Print the result, and write the result files named by options."""
        from mpinet.commands.result import Result

        result = Result(job, job.completed or self._options, self._typed, found, ranks, self._began)
        text = as_json(result.document()) if self._json else f"{result}\n"
        try:
            self._out.write(text)
        finally:  # also if the reader of the output has gone
            job.publish(result.document())
            if self._line.out is not None:
                self._write(self._line.out, result)

    @staticmethod
    def _write(path: Path, result: Result) -> None:
        """Write the result to a file; the file name's ending selects the format."""
        ending = path.suffix.lower()
        if ending == ".json":
            write_text(path, as_json(result.document()))
        else:
            write_text(path, (as_csv if ending == ".csv" else as_lines)(result.records()))

    def _warn(self, sentence: str) -> None:
        """Print a warning on standard error."""
        with suppress(OutputError, BrokenPipeError):
            self._err.write(f"mpinet: {sentence}\n")

    def _say_error(self, sentence: str, status: int) -> None:
        """Print an error on standard error, and with ``--json`` as JSON on standard output."""
        if not sentence:
            return
        with suppress(OutputError, BrokenPipeError):
            if self._json:
                told = {} if self._job is None else self._job.told
                document = {"error": sentence, "status": status, **told}
                self._out.write(json.dumps(document) + "\n")
        with suppress(OutputError, BrokenPipeError):
            self._err.write(f"mpinet: {sentence}\n")


def ended_by(error: Exception | KeyboardInterrupt) -> tuple[int, str]:
    """Return an error's exit status and sentence; the sentence is empty for a closed pipe."""
    match error:
        case MpinetError():
            return error.status, str(error)
        case KeyboardInterrupt():
            return INTERRUPTED, "interrupted"
        case BrokenPipeError():
            return Unread.status, ""
        case MemoryError():
            return 1, out_of_memory(error)
    from mpinet.base.blame import raised_at, told

    return RuleError.status if raised_at(error) else 1, told(error)


def require_no_launcher(command: str) -> None:
    """Raise `UsageError` under a launcher, where each rank would run the whole command."""
    if launched_ranks() > 1:
        raise UsageError(
            f"mpinet {command} runs on this host only: start the command without a launcher."
        )


def leave(status: int) -> None:
    """End the process; rank 0 finally writes the status to the file in ``MPINET_PROOF``, if set.

    A launcher ends the job as soon as one rank fails. All ranks but 0 wait, which gives rank 0 time
    to print the error.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError) as error:  # full disk, closed output, or no output
        status = Unread.status if isinstance(error, BrokenPipeError) else status
        drop(sys.stdout)
    if status and launched_rank() > 0:
        alone = "OMPI_COMM_WORLD_RANK" in os.environ and "mpi4py.MPI" not in sys.modules
        time.sleep(LATE if alone else LAST_WORD)
    proof = os.environ.get("MPINET_PROOF")
    if proof and launched_rank() == 0:
        with suppress(OSError):  # on a full disk the launcher gets only the exit status
            Path(proof).write_text(f"{status}\n")
    if status and any(
        not thread.daemon for thread in enumerate_threads() if thread is not main_thread()
    ):
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()
        os._exit(status)  # a script's thread may wait forever for a failed partner
    sys.exit(status)


def _sentence(said: str) -> str:
    """Return argparse's message without the usage and the program name."""
    last = said.strip().splitlines()[-1]
    return last.split("error: ", 1)[-1].replace("--progress-as=json", "--progress json")
