"""One run of a command: from what was typed to what is printed, and how it ends.

The module of a command that runs on all ranks has ``prepare(options)``, which checks all that can
be checked without MPI and gives a `Job`. A command of this host alone, such as one that starts
ranks, is done by its function, which gives the exit status.
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
"""Seconds that the other ranks give rank 0 to print an error before they end."""

LATE = 10.0
"""Seconds of the same wait before the ranks have met: rank 0 may still be starting, and Open MPI's
launcher kills it when another rank has failed."""

PATIENCE = 1.0
"""Seconds that a rank with an error waits for the others to have one, too, before it ends all."""


class CommandSession:
    """One run of a command.

    Parameters
    ----------
    typed : list of str
        The words after ``mpinet``.
    signals : Signals, optional
        What has asked for a checkpoint since the process began.
    """

    def __init__(self, typed: list[str], signals: Signals | None = None):
        self._signals = signals
        self._typed = typed or ["--help"]
        # Errors that arise before the words are parsed are printed in the form that was asked for,
        # too.
        self._json = "--json" in typed
        self._found: dict[str, Any] | None = None
        self._began = time.perf_counter()
        self._out = Output(sys.stdout, "the standard output")
        self._err = Output(sys.stderr, "the standard error")

    def run(self) -> int:
        """Run the command from parsing to output; return the exit status."""
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
        """Take the options of the command that this session runs."""
        self._options, self._line = options, options.line
        self._json = self._line.json  # the word may be meant for a script

    def _here(self) -> int:
        """Run a command of this host alone; return the exit status."""
        require_no_launcher(self._options.command)
        status: int = module_of(self._options.command).act(self._options)
        return status

    def _resume(self) -> int:
        """Go on from a checkpoint as if the command were still running; return the exit status."""
        from mpinet.commands.resume import ResumeOptions
        from mpinet.jobs.checkpoints import require_inputs
        from mpinet.jobs.resume import taken_up

        assert isinstance(self._options, ResumeOptions)
        folder = self._options.folder
        try:
            resumed, found = taken_up(self._options, parse)
            require_inputs(folder, values_of(resumed), found)
        # If this rank left now, the others would wait for it in the first collective call.
        except FileError as error:  # the host of this rank may differ from the others
            return self._run(Failed(error))
        self._typed, self._found = found["command"], found
        self._take(resumed)
        self._settle()
        with allowing(*resumed.allowance):
            return self._run(self._prepare())

    def _settle(self) -> None:
        """Do what cannot wait until all have met: see to signals, and watch this host's ranks."""
        # Without a checkpoint there is nothing to write at SIGTERM: the run ends as any process
        # does.
        if self._line.checkpoint is not None:
            self._signals = self._signals or Signals()
        elif self._signals is not None:
            self._signals.hand_back()
        if self._line.watchdog is not None:
            # The guardian is a process of its own, and inherits its settings by the environment.
            os.environ["MPINET_WATCHDOG"] = f"{self._line.watchdog:g}"
        guarded()

    def _prepare(self) -> Job:
        """Prepare the job; what goes wrong on this rank alone is raised when all have met."""
        try:
            line, options = self._line, self._options
            if line.out is not None:
                require_file(line.out, ENDINGS, "a result's file")
            if line.every is not None and line.checkpoint is None:
                raise UsageError("--every does not apply without --checkpoint.")
            job: Job = module_of(options.command).prepare(options)
        except (FileError, RuleError) as error:  # a file or a user's class of this rank's host
            return Failed(error)
        except MpinetError:
            raise
        except Exception as error:
            return Failed(error)
        return job

    def _parse(self) -> Options:
        """Parse the typed words."""
        said, heard = io.StringIO(), io.StringIO()
        try:
            # A parser prints and exits by itself. On many ranks one sentence has to come out, of
            # rank 0.
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
        """Run the job on all ranks and come to the end together."""
        import numpy as np

        from mpinet.base.native.background import waiting_by
        from mpinet.jobs.hosts import require_alike
        from mpinet.machine.transport import Local, Unmet, world

        transport: Local = Unmet()
        result, status, text = None, 0, ""
        options = values_of(self._options)
        kept = SavedRun(self._line, options, self._typed, self._found, self._signals)
        try:
            transport = world()
            require_alike(options, transport)
            job.require_room(transport)
            with (
                self._progress(job) as progress,
                waiting_by(progress.waiting, progress.tell_wait),
                kept.by(transport),
            ):
                job.say, progress.command = progress.say, self._options.command
                job.warn = self._warn
                progress.facts = lambda: {
                    "moving": transport.moving,
                    "checkpoint": kept.last(),
                }
                progress.slow = transport.slow
                result = job.run(transport, progress.update)
                job.keep(transport)
            transport.sum(np.zeros(1))  # a rank may still have an error to tell
        except (Exception, KeyboardInterrupt) as error:
            status, text = ended_by(error)
        # All ranks tell each other how they have ended, so that one of the errors is printed and
        # all give the same status.
        ends = transport.conclude(status, text, PATIENCE if status else None)
        # No answer: the others are still in the run, and would wait for ever for this rank's part
        # of it.
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
        """Make the progress display that the options ask for."""
        wanted = self._line.progress if launched_rank() == 0 else False
        return Progress(job.unit, wanted, launched_ranks() > 1)

    def _finish(self, job: Job, result: Any, ranks: int) -> int:
        """Show the result; return the exit status."""
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
        """Print the result, and write it to the files that the options name."""
        from mpinet.commands.result import Result

        result = Result(job, job.completed or self._options, self._typed, found, ranks, self._began)
        text = as_json(result.document()) if self._json else f"{result}\n"
        try:
            self._out.write(text)
        finally:  # even if nobody reads what is printed
            job.publish(result.document())
            if self._line.out is not None:
                self._write(self._line.out, result)

    @staticmethod
    def _write(path: Path, result: Result) -> None:
        """Write the result in the format of its file's ending."""
        ending = path.suffix.lower()
        if ending == ".json":
            write_text(path, as_json(result.document()))
        else:
            write_text(path, (as_csv if ending == ".csv" else as_lines)(result.records()))

    def _warn(self, sentence: str) -> None:
        """Print a sentence beside the result."""
        with suppress(OutputError, BrokenPipeError):
            self._err.write(f"mpinet: {sentence}\n")

    def _say_error(self, sentence: str, status: int) -> None:
        """Print an error on standard error, and with ``--json`` as JSON on standard output."""
        if not sentence:
            return
        with suppress(OutputError, BrokenPipeError):
            if self._json:
                self._out.write(json.dumps({"error": sentence, "status": status}) + "\n")
        with suppress(OutputError, BrokenPipeError):
            self._err.write(f"mpinet: {sentence}\n")


def ended_by(error: Exception | KeyboardInterrupt) -> tuple[int, str]:
    """Return the exit status of an error and the sentence on it; empty: no reader is left."""
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
    """Raise `UsageError` under a launcher: each of its ranks would do all of it."""
    if launched_ranks() > 1:
        raise UsageError(f"mpinet {command} is for this host alone: run it without a launcher.")


def leave(status: int) -> None:
    """End the process; rank 0 says last of all that the command has come to its end.

    A launcher ends the job when one rank has failed: the others let rank 0 say why first.
    """
    try:
        sys.stdout.flush()
    except (OSError, ValueError, AttributeError) as error:  # full, closed, or never open
        status = Unread.status if isinstance(error, BrokenPipeError) else status
        drop(sys.stdout)
    if status and launched_rank() > 0:
        alone = "OMPI_COMM_WORLD_RANK" in os.environ and "mpi4py.MPI" not in sys.modules
        time.sleep(LATE if alone else LAST_WORD)
    proof = os.environ.get("MPINET_PROOF")
    if proof and launched_rank() == 0:
        with suppress(OSError):  # on a full disk the status is all that the launcher gets
            Path(proof).write_text(f"{status}\n")
    if status and any(
        not thread.daemon for thread in enumerate_threads() if thread is not main_thread()
    ):
        with suppress(OSError, ValueError, AttributeError):
            sys.stderr.flush()
        os._exit(status)  # a script's thread may wait for ever for something that failed
    sys.exit(status)


def _sentence(said: str) -> str:
    """Return argparse's message without usage and program name."""
    last = said.strip().splitlines()[-1]
    return last.split("error: ", 1)[-1].replace("--progress-as=json", "--progress json")
