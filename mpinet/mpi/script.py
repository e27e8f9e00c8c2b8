"""Runs a script on every processor of a machine."""

from __future__ import annotations

import builtins
import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import FunctionType, ModuleType

from mpinet.errors import Deadlock, ProgramError
from mpinet.machine import Machine
from mpinet.mpi import source
from mpinet.mpi.checks.findings import CheckedEnd, Findings
from mpinet.mpi.checks.gathering import gathered_calls, gathered_findings
from mpinet.mpi.checks.installing import checking
from mpinet.mpi.communicators.spawning import LAUNCHES, Launch, adopt
from mpinet.mpi.debugging.debugger import debugging
from mpinet.mpi.environment import process_identity
from mpinet.mpi.foreign import in_libraries
from mpinet.mpi.module import emulated
from mpinet.mpi.outcome import ScriptOutcome, outcome
from mpinet.mpi.source import Source
from mpinet.mpi.world.alarms import own_alarms
from mpinet.mpi.world.atexit_hooks import at_end_of_processors, call_last, garbage_collected
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.loading import loading
from mpinet.mpi.world.message import BODY, Message
from mpinet.mpi.world.naming import Naming
from mpinet.mpi.world.options import PLAIN
from mpinet.mpi.world.options import ScriptOptions as ScriptOptions
from mpinet.mpi.world.outside import outside_watched
from mpinet.mpi.world.packages import adapt_loaded
from mpinet.mpi.world.privacy import own_random_numbers
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.settings import ARGUMENTS, PATH, own_settings
from mpinet.mpi.world.streams import descriptors_kept, streams
from mpinet.mpi.world.world import World
from mpinet.process.running import rare_collections


def run_script(
    machine: Machine, script: Path | Source, options: ScriptOptions = PLAIN
) -> ScriptOutcome:
    """Run an mpi4py script on every processor (collective).

    Parameters
    ----------
    machine : Machine
        The machine; every node except switches is a rank of the script's world.
    script : Path or Source
        The script.
    options : ScriptOptions
        Options of the run.

    Raises
    ------
    FileError
        The script cannot be read.
    ProgramError
        A processor's script fails (with its traceback), or collectives do not match.
    Deadlock
        Processors wait for messages that no processor will send; names a cycle of processors.
    """
    whole = script if isinstance(script, Source) else source.file(script)
    with rare_collections(), descriptors_kept(options.out or sys.stdout) as apart:
        world = World(machine, replace(options, out=apart))
        world.accounts.naming = Naming(whole)
        world.exits.told = options.told
        if options.checks is not None:
            world.findings = Findings(options.checks)
            world.findings.log = None if options.log is None else {}
        with running.of(world):
            try:
                _run(world, whole, options.arguments)
            except (Deadlock, ProgramError) as error:
                # All ranks raise the same error at the same time, and can meet once more.
                _collect(world, options)
                if world.findings is not None:
                    raise CheckedEnd(error, gathered_findings(world, error)) from None
                raise
            _collect(world, options)
            return outcome(world)


def _collect(world: World, options: ScriptOptions) -> None:
    """Collect the calls of all processors, if the options ask for these (collective)."""
    if options.log is not None:
        options.log.update(gathered_calls(world))


def _run(world: World, whole: Source, arguments: Sequence[str]) -> None:
    """Run a script on every processor to its end (collective)."""

    def program(processor: Processor) -> None:
        _play(world, processor, whole, arguments)

    def launched(processor: int, message: Message) -> None:
        world.turns.run_on(processor, partial(_play_child, world, message[BODY]))

    place = world.contexts.number(LAUNCHES)
    for processor in world.contexts.spare:
        world.mail.on_active(place, processor, partial(launched, processor))
    with surroundings(world, whole.folder):
        world.run(program)
    world.debugger.require_goal()
    world.require_matching_collectives()


def _play(world: World, processor: Processor, whole: Source, arguments: Sequence[str]) -> None:
    """Run a script on the running processor to its end."""
    main = _main(whole)
    processor.main = sys.modules["__main__"] = main
    vars(sys)["argv"] = [whole.name, *arguments]  # the same for all, and no processor's own
    if whole.package:
        import_module(whole.package)
    try:
        world.debugger.begin(processor)
        # a function, because `exec` would lie on the stack that is copied whenever a processor
        # waits
        FunctionType(whole.code, main.__dict__)()
    except SystemExit as ended:
        _finish(world, main)
        raise ended
    _finish(world, main)


def _finish(world: World, main: ModuleType) -> None:
    """Wait for a script's threads, and call its functions registered for the end."""
    world.threads.join()
    call_last(main.__dict__)
    world.collectives.end_all(world.turns.current)


def _play_child(world: World, launch: Launch, processor: Processor) -> None:
    """Run a spawned script; afterwards the processor is free again."""
    adopt(launch)
    for setting in (ARGUMENTS, PATH):
        world.turns.privacy.change(processor, setting)
    try:
        if launch.program.folder:
            os.chdir(launch.program.folder)
        whole = launch.program.read()
        sys.path = [whole.folder, *sys.path]
        _play(world, processor, whole, launch.program.arguments)
    finally:
        world.desk.give_back(processor.id, launch.account)


@contextmanager
def surroundings(world: World, folder: str) -> Iterator[None]:
    """Context manager: the complete environment of scripts, with emulated MPI and private state.

    Parameters
    ----------
    world : World
        The run.
    folder : str
        First folder for scripts' imports; empty for the current folder.
    """
    adapt_loaded()
    with (
        _interpreter(folder),
        at_end_of_processors(world.turns.main_of),
        emulated(world),
        own_random_numbers(lambda: world.turns.current),
        own_settings(world),
        own_alarms(world.turns),
        loading(world),
        streams(world),
        garbage_collected(),
        world.threads.watched(),
        outside_watched(world),
        process_identity(world),
        in_libraries(),
        nullcontext() if world.findings is None else checking(world, world.findings),
        debugging(world),
    ):
        yield


def _main(script: Source) -> ModuleType:
    """Return a processor's ``__main__`` before its run."""
    main = ModuleType("__main__")
    main.__builtins__ = builtins  # type: ignore[attr-defined]
    main.__package__ = script.package or None
    main.__dict__.update(script.attributes)
    return main


@contextmanager
def _interpreter(folder: str) -> Iterator[None]:
    """Context manager: imports search a script's folder first; restores ``sys``."""
    argv, path = sys.argv, list(sys.path)
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        sys.argv = argv
        sys.path[:] = path
