"""Run of a command in Python: from the arguments of its function to its result."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from time import perf_counter
from typing import Any, ParamSpec, TypeVar, cast

from mpinet.base.launched import launched_rank
from mpinet.commands.docstrings import documented, returning
from mpinet.commands.hosts import require_alike
from mpinet.commands.job import Job, Watch, allowed
from mpinet.commands.opening import named, with_networks
from mpinet.commands.optionrecords import Given, Options
from mpinet.commands.result import Result
from mpinet.commands.signature import (
    REST,
    Option,
    Signature,
    fields_of,
    given,
    options_in,
    options_of,
    signature_of,
)
from mpinet.compiled import watching
from mpinet.machine.transport import Local, world
from mpinet.report.cell import is_notebook
from mpinet.report.progress import Progress

Kind = TypeVar("Kind", bound=Result)

Parameters = ParamSpec("Parameters")


def perform(function: Callable[..., Kind], values: Mapping[str, Any]) -> Kind:
    """Do what a command's function was asked for (collective).

    Parameters
    ----------
    function : callable
        The command's function.
    values : mapping
        Its arguments by name.
    """
    began = perf_counter()
    options = given(function, {name: with_networks(value) for name, value in values.items()})
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


def prepared(function: Callable[..., Result], options: Given) -> Job:
    """Return the job for these options; refuse all that can be refused without MPI."""
    with allowed(options):
        job: Job = sys.modules[function.__module__].prepare(options)
    return job


def carried_out(
    function: Callable[..., Kind],
    options: Given,
    job: Job,
    transport: Local,
    began: float,
    watch: Watch = lambda *done: None,
) -> Kind:
    """Run a job on these ranks (collective); its result is whole on rank 0."""
    with allowed(options):
        job.require_room(transport)
        found = job.run(transport, watch)
        job.keep(transport)
    said = [*words(function, options)]
    kind: type[Kind] = signature_of(function).result
    return kind(job, options, said, found, transport.size, began)


def words(function: Callable[..., Result], options: Given) -> Iterator[str]:
    """Yield the words of the command line that does the same, without options at their defaults."""
    yield from options.command.split()
    said, last = options_of(function), list[str]()
    for option in sorted(said, key=lambda one: one.typed.words != ()):
        value = getattr(options, option.dest)
        if option.typed.many == REST or option.typed.within:
            last += _all_of(value)
        elif option.by_place and value != option.default:
            yield from _all_of(value)
    for option in said:
        value = getattr(options, option.dest)
        if option.words and not option.typed.within and value != option.default:
            yield from _option(option, value)
    yield from last


def _all_of(value: Any) -> Iterator[str]:
    """Return a value's words."""
    return map(_word, value if isinstance(value, list | tuple) else [value])


def _option(option: Option, value: Any) -> list[str]:
    """Return the words of an option that is not at its default."""
    word = option.words[-1]
    if isinstance(value, bool):
        return [word if value else word.replace("--", "--no-", 1)]
    if isinstance(value, Mapping):
        value = [f"{name}={one}" for name, one in value.items()]
    if option.is_several and isinstance(value, list | tuple):
        return [each for item in value for each in (word, *_all_of(item))]
    return [word, _word(value)]


def _word(value: Any) -> str:
    """Return a value as it is typed."""
    if isinstance(value, list | tuple):
        return ",".join(map(_word, value))
    return named(value)


def function_with(
    record: Callable[Parameters, Options], result: type[Kind], *groups: type, usage: str = ""
) -> Callable[Parameters, Kind]:
    """Make the function of a command from the class of its options.

    The function takes what the constructor of the class takes, also for type checkers.

    Parameters
    ----------
    record : type
        A frozen dataclass derived from `Options`.
    result : type
        What the function returns.
    *groups : type
        Dataclasses whose fields are options of the command line alone: parts of `Line`.
    usage : str
        How the command is typed, where that is not made from the options.
    """
    of = cast(type[Options], record)
    options = options_in(of)
    by_place = [one.name for one in fields(of) if not one.kw_only]
    known = {option.name for option in options}

    def function(*places: Parameters.args, **names: Parameters.kwargs) -> Kind:
        if len(places) > len(by_place):
            raise TypeError(f"{of.command}() takes {len(by_place)} arguments by place.")
        values = dict(zip(by_place, places, strict=False)) | names
        return perform(function, values)

    alone = [one for group in groups for one in fields_of(group) if one.name not in known]
    function.__module__, function.__name__ = of.__module__, of.command
    function.__qualname__ = of.command
    function.__doc__ = returning(documented(of.__doc__ or "", options, {}), result)
    vars(function)["said"] = Signature(options, alone, usage, False, False, result, of)
    vars(function)["__signature__"] = inspect.Signature(
        [_parameter(option, option.name in by_place) for option in options],
        return_annotation=result,
    )
    return function


def _parameter(option: Option, by_place: bool) -> inspect.Parameter:
    """Return an option as a parameter of its command's function."""
    how = inspect.Parameter.POSITIONAL_OR_KEYWORD if by_place else inspect.Parameter.KEYWORD_ONLY
    return inspect.Parameter(option.name, how, default=option.default, annotation=option.hint)
