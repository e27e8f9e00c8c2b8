"""Doing a command in Python: from what its function was given to its result."""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any

from mpinet.commands.hosts import require_alike
from mpinet.commands.job import Job, Watch, allowed
from mpinet.commands.options import given, named
from mpinet.commands.result import Result
from mpinet.compiled import watching
from mpinet.launched import launched_rank
from mpinet.machine.transport import Local, world
from mpinet.report.cell import is_notebook
from mpinet.report.progress import Progress


def perform(function: Callable[..., Result], values: Mapping[str, Any]) -> Result:
    """Do what a command's function was asked for (collective).

    Parameters
    ----------
    function : callable
        The command's function.
    values : mapping
        Its arguments by name.
    """
    began = perf_counter()
    options = given(function, values)
    job, transport = prepared(function, options), world()
    require_alike(options, transport)
    with _shown(job, options.command, transport) as watch:
        return carried_out(function, options, job, transport, began, watch)


@contextmanager
def _shown(job: Job, command: str, transport: Local) -> Iterator[Watch]:
    """Show how far a job is where a notebook has asked for it; scripts are not disturbed."""
    if not is_notebook() or launched_rank() != 0:
        yield lambda *done: None
        return
    with Progress(job.unit, "notebook", False) as progress, watching(progress.compiling):
        job.say, progress.command = progress.say, command
        progress.facts = lambda: {"moving": transport.moving}
        yield progress.update


def prepared(function: Callable[..., Result], options: argparse.Namespace) -> Job:
    """The job for these options; refuses all that can be refused without MPI."""
    with allowed(options):
        job: Job = sys.modules[function.__module__].prepare(options)
    return job


def carried_out(
    function: Callable[..., Result],
    options: argparse.Namespace,
    job: Job,
    transport: Local,
    began: float,
    watch: Watch = lambda *done: None,
) -> Result:
    """Run a job on these ranks (collective); its result is whole on rank 0."""
    with allowed(options):
        job.require_room(transport)
        found = job.run(transport, watch)
        job.keep(transport)
    return Result(job, vars(options), [*words(function, options)], found, transport.size, began)


SPELT = {
    "run": {"topology": "--on", "arguments": "--arg"},
    "exec": {"topology": "--on"},
    "sweep": {"folder": "--out"},
}
"""Options that the command line spells in another way."""


def words(function: Callable[..., Result], options: argparse.Namespace) -> Iterator[str]:
    """The command line that does the same, without options that are as by default."""
    command, typed = options.command, vars(options)
    yield command
    beside = []
    for name, parameter in inspect.signature(function).parameters.items():
        value = typed[name]
        option = SPELT.get(command, {}).get(name)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and option is None:
            if value is not parameter.default:
                yield from map(_word, value if isinstance(value, list | tuple) else [value])
        elif value != parameter.default:
            beside += _option(option or f"--{name.replace('_', '-')}", value)
    yield from beside


def _option(option: str, value: Any) -> list[str]:
    """An option that is not as by default."""
    if isinstance(value, bool):
        return [option if value else option.replace("--", "--no-", 1)]
    if option == "--arg":
        by_name = isinstance(value, Mapping)
        all_of = [f"{k}={v}" for k, v in value.items()] if by_name else map(_word, value)
        return [word for item in all_of for word in (option, item)]
    if isinstance(value, list | tuple) and all(isinstance(item, list | tuple) for item in value):
        return [word for item in value for word in (option, *map(_word, item))]
    return [option, _word(value)]


def _word(value: Any) -> str:
    """A value as it is typed."""
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return named(value)
