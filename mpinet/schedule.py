"""Schedules as files from Python: what ``mpinet schedule`` does, with the same options.

`run` runs a schedule from a file, `check` runs it and tells what was checked, `export` writes that
of a collective.

Examples
--------
>>> import mpinet, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     written = mpinet.schedule.export("gossip", "ring:8", out=f"{folder}/ring8.xml")
...     found = mpinet.schedule.run(f"{folder}/ring8.xml", "ring:8")
>>> found.steps, found.format, found.correct
(7, 'MSCCL', True)
"""

from __future__ import annotations

import argparse
import inspect
from collections.abc import Callable, Iterator, Mapping
from time import perf_counter
from typing import Any, Literal

from mpinet.commands.options import Bytes, Duplex, File, Hosted, Network, Place, Ports, given, named
from mpinet.commands.result import Result
from mpinet.machine.transport import world

Exported = Literal["broadcast", "gossip", "scatter", "gather", "exchange", "reduce", "allreduce"]
Purpose = Literal[
    "broadcast",
    "gossip",
    "scatter",
    "gather",
    "exchange",
    "reduce",
    "allreduce",
    "reducescatter",
]
Format = Literal["csv", "npz", "msccl", "goal"]


def run(
    file: File,
    on: Network,
    *,
    route: bool = False,
    collective: Purpose | None = None,
    chunks: int | None = None,
    root: Place | None = None,
    bytes: int | None = None,
    rounds: int | None = None,
    ports: Ports | None = None,
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    r"""Run a schedule from a file (collective).

    Parameters
    ----------
    file : str
        CSV, NPZ, MSCCL-XML, ForestColl XML or GOAL.
    on : str or Topology
        The network.
    route : bool
        Whether rows go over several hops, by the network's routing.
    collective, chunks, root : str, int, int or str, optional
        What the schedule is for, chunks a unit, and the root, where no header tells.
    bytes : int, optional
        Bytes of a message of GOAL; default: any.
    rounds : int, optional
        How often ForestColl's trees are used.
    ports : {'one', 'all'}, optional
        Ports that a processor uses in a step; default: what the header says, else one.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one.
    mapping : {'blocks', 'clusters', 'measured', 'random'}
        How ranks host processors; changes no result.
    record, record_steps, record_nodes : str, optional
        The file that gets what moved in which step; the steps ``A..B`` and the nodes ``0..15,20``
        that it is limited to.
    memory_limit : int or str, optional
        Bytes that the ranks of a host may take together, such as ``"4GiB"``.
    force : bool
        Whether to try what does not fit into the memory there is.
    seed : int
        Chooses what the chunks contain.

    Raises
    ------
    UsageError
        The file cannot be read, is for another network, or sends what the sender does not hold.
    ModelViolation
        It asks more than the port model allows.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "path.csv")
    ...     _ = path.write_text("step,from,to,chunk\n1,0,1,0\n2,1,2,0\n")
    ...     run(path, "mesh:3", collective="broadcast", root=0).steps
    2
    """
    return _done("run", run, locals())


def check(
    file: File,
    on: Network,
    *,
    route: bool = False,
    collective: Purpose | None = None,
    chunks: int | None = None,
    root: Place | None = None,
    bytes: int | None = None,
    rounds: int | None = None,
    ports: Ports | None = None,
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    """Run a schedule from a file, to be told what was checked (collective).

    Parameters, errors and result are those of `run`; a notebook shows form, wiring, ports, data and
    result, each with what was found.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = export("broadcast", "hypercube:3", out=f"{folder}/cube.csv")
    ...     check(f"{folder}/cube.csv", "hypercube:3").correct
    True
    """
    return _done("check", check, locals())


def export(
    collective: Exported,
    topology: Network,
    *,
    out: File,
    algorithm: str | None = None,
    root: Place = 0,
    items: int = 1,
    ports: Ports = "one",
    format: Format | None = None,
) -> Result:
    """Write the schedule of a collective, by rank 0 (collective).

    Parameters
    ----------
    collective : str
        Such as ``"gossip"``.
    topology : str or Topology
        The network.
    out : str
        The file: .csv, .npz, .xml (MSCCL) or .goal.
    algorithm : str, optional
        As for the collective's command.
    root : int or str
        Of a collective that has one.
    items : int
        Items in a pipeline: of the root, of each processor, or to be combined.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    format : {'csv', 'npz', 'msccl', 'goal'}, optional
        What is written; default: by the file's ending.

    Raises
    ------
    UsageError
        The file cannot be written, or there is no such algorithm.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     written = export("gossip", "petersen", out=f"{folder}/p.goal", algorithm="matching")
    >>> written.format, written.rows, written.steps
    ('goal', 90, 9)
    """
    return _done("export", export, locals())


TYPED = {"on": "--on", "out": "--out"}
"""What the command line takes as an option though the function takes it by place."""


def _done(action: str, function: Callable[..., Result], values: Mapping[str, Any]) -> Result:
    """Do it, with the options named as the command line's."""
    from mpinet.commands.schedule import prepare

    began = perf_counter()
    options = given(function, values)
    words = ["schedule", action, *_words(function, options)]
    options.command, options.action = "schedule", action
    if action == "export":
        options.file = options.out
        options.out = None
    else:
        options.topology = options.on
        del options.on
    job, transport = prepare(options), world()
    found = job.run(transport, lambda *done: None)
    job.keep(transport)
    return Result(job, vars(options), words, found, transport.size, began)


def _words(function: Callable[..., Result], options: argparse.Namespace) -> Iterator[str]:
    """What is typed for the same, without options that are as by default."""
    for name, parameter in inspect.signature(function).parameters.items():
        value = getattr(options, name)
        if parameter.kind is parameter.POSITIONAL_OR_KEYWORD and name not in TYPED:
            yield named(value)
        elif isinstance(value, bool):
            yield from [f"--{name}"] * value
        elif value != parameter.default:
            yield from (f"--{name.replace('_', '-')}", named(value))
