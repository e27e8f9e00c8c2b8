"""Run a command from Python: from the arguments of its function to its result."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from time import perf_counter
from typing import Any, TypeVar

from mpinet.base.launched import launched_rank
from mpinet.base.memory import allowing
from mpinet.base.native.background import waiting_by
from mpinet.commands.job import Job, Watch
from mpinet.commands.network import named
from mpinet.commands.optionrecords import REST, Option, Options, values_of
from mpinet.commands.result import Result
from mpinet.commands.signature import given, options_of, signature_of
from mpinet.jobs import module_of
from mpinet.jobs.hosts import require_alike
from mpinet.jobs.opening import with_networks
from mpinet.machine.transport import Local, world
from mpinet.report.cell import is_notebook
from mpinet.report.progress import Progress

Kind = TypeVar("Kind", bound=Result)


def perform(function: Callable[..., Kind], values: Mapping[str, Any]) -> Kind:
    """Run the command of a function (collective).

    Parameters
    ----------
    function : callable
        The command's function.
    values : mapping
        The function's arguments, by name.
    """
    began = perf_counter()
    options = given(function, {name: with_networks(value) for name, value in values.items()})
    if signature_of(function).is_here:
        return module_of(options.command).act(options)  # type: ignore[no-any-return]
    job, transport = prepared(options), world()
    # Hosts with other sources or input files would silently compute other results.
    require_alike(values_of(options), transport)
    with _shown(job, options.command, transport) as watch:
        return carried_out(function, options, job, transport, began, watch)


@contextmanager
def _shown(job: Job, command: str, transport: Local) -> Iterator[Watch]:
    """Show a job's progress in a notebook on request; scripts print no progress."""
    if not is_notebook() or launched_rank() != 0:
        yield lambda *done: None
        return
    with (
        Progress(job.unit, "notebook", False) as progress,
        waiting_by(progress.waiting, progress.tell_wait),
    ):
        job.say, progress.command = progress.say, command
        progress.facts = lambda: {"moving": transport.moving}
        yield progress.update


def prepared(options: Options) -> Job:
    """Return the job for the options; raise every error that needs no MPI."""
    with allowing(*options.allowance):
        job: Job = module_of(options.command).prepare(options)
    return job


def carried_out(
    function: Callable[..., Kind],
    options: Options,
    job: Job,
    transport: Local,
    began: float,
    watch: Watch = lambda *done: None,
) -> Kind:
    """Run a job on these ranks (collective); the result is complete on rank 0."""
    with allowing(*options.allowance):
        job.require_room(transport)
        # The memory limit is a context variable, because lower rooms check it at allocations
        # without knowing the options.
        found = job.run(transport, watch)
        job.keep(transport)
    options = job.completed or options
    said = [*words(function, options)]
    kind: type[Kind] = signature_of(function).result
    return kind(job, options, said, found, transport.size, began)


def words(function: Callable[..., Result], options: Options) -> Iterator[str]:
    """Yield the words of the equivalent command line, without options at their defaults."""
    yield from options.command.split()
    values = vars(options)
    # An option that takes all remaining words must come last.
    said, last = options_of(function), list[str]()
    # Some options are typed by position, although Python takes them by name. The parser expects
    # these options first.
    for option in sorted(said, key=lambda one: one.typed.words != ()):
        value = values[option.name]
        if option.typed.many == REST or option.typed.within:
            last += _all_of(value)
        elif option.by_place and value != option.default:
            yield from _all_of(value)
    for option in said:
        value = values[option.name]
        if option.words and not option.typed.within and value != option.default:
            yield from _option(option, value)
    yield from last


def _all_of(value: Any) -> Iterator[str]:
    """Yield the words of a value."""
    return map(_word, value if isinstance(value, list | tuple) else [value])


def _option(option: Option, value: Any) -> list[str]:
    """Return the words of an option; none for its default."""
    word = next((word for word in option.words if word.startswith("--")), option.words[0])
    if isinstance(value, bool):
        return [word if value else word.replace("--", "--no-", 1)]
    if isinstance(value, Mapping):
        value = [f"{name}={one}" for name, one in value.items()]
    if option.is_several and isinstance(value, list | tuple):
        return [each for item in value for each in (word, *_all_of(item))]
    return [word, _word(value)]


def _word(value: Any) -> str:
    """Return a value as typed text."""
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return value.brief if isinstance(value, Result) else named(value)
