"""The fabric that options name: dead nodes and links, and the processors that take part."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any

from mpinet.commands.job import Watch
from mpinet.commands.network import AnyNetwork
from mpinet.commands.optionrecords import PYTHON, Options
from mpinet.commands.options import CollectiveOptions
from mpinet.errors import UsageError
from mpinet.jobs import module_of
from mpinet.jobs.faults import lasting_faults
from mpinet.jobs.opening import topology_named
from mpinet.machine.transport import Local
from mpinet.networks.members import Members, read_runs
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

VIEWS = ("record", "draw", "play", "trace", "checkpoint", "schedule_out", "save", "schedule")
"""Options that name files, which a run beside another does not write."""


def parts_of(
    named: AnyNetwork, dead_words: str | None, group: str | None
) -> tuple[Topology, list[Members]]:
    """The network without what is dead, and what each group sees of it.

    Of one group, the network is what that sees; without any, there are no such parts.

    Raises
    ------
    TopologyError
        No member is left, or members are cut off from each other.
    UsageError
        Something dies at a step, or a processor is in two groups.
    """
    network = topology_named(named)
    faults = lasting_faults(network, dead_words)
    dead, links = faults.dead.tolist(), [(int(u), int(v)) for u, v in faults.cut]
    groups = [] if group is None else groups_of(network, group)
    parts = [Members(network, members, dead, links) for members in groups]
    if len(parts) == 1:
        return parts[0], parts
    # A network without faults stays of its family, and keeps the family's schedules and routings.
    return Members(network, None, dead, links) if faults else network, parts


GRID = re.compile(r"(\d+)x(\d+)")
"""Groups by a rule: so many processors each, so far apart."""


def groups_of(network: Topology, said: str) -> list[list[int]]:
    """Read groups: ``0-3/4-7``, or by a rule ``4x1`` (blocks of 4), ``2x8`` (2 each, 8 apart).

    Raises
    ------
    TopologyError
        One is no group of the network's processors.
    UsageError
        The rule does not go into their number, or a processor is in two groups.

    Examples
    --------
    >>> from mpinet.networks import open
    >>> groups_of(open("ring:8"), "2x2")
    [[0, 2], [1, 3], [4, 6], [5, 7]]
    """
    if rule := GRID.fullmatch(said.strip()):
        size, stride = map(int, rule.groups())
        if not size * stride or network.hosts % (size * stride):
            raise UsageError(
                f"--group {said}: {network.name} has {network.hosts} processors, which are no "
                f"multiple of {size} x {stride}."
            )
        first = (at + by for at in range(0, network.hosts, size * stride) for by in range(stride))
        return [[*range(at, at + size * stride, stride)] for at in first]
    groups = [read_runs(network, part) for part in said.split("/")]
    every = [node for group in groups for node in group]
    if len(set(every)) < len(every):
        twice = next(node for node in every if every.count(node) > 1)
        raise UsageError(f"--group {said}: processor {twice} is in two groups.")
    return groups


def intact(options: Options, faults: str | None, transport: Local, watch: Watch) -> Row:
    """Run the same where nothing is dead: its steps and bound, if there are faults (collective)."""
    if faults is None:
        return {}
    # The command is prepared anew: without faults another algorithm may be the default.
    found = module_of(options.command).prepare(_without_files(options)).run(transport, watch)
    # Proofs find a range of steps, and runs find one number.
    steps = found["upper"] if "upper" in found else found["steps"]
    bound = found["lower"] if "lower" in found else found["lower_bound"]
    return {"intact_steps": steps, "intact_bound": bound}


def _without_files(options: Options) -> Options:
    """Return the same options without faults, and without the files that a run writes."""
    names = {"faults", *VIEWS}
    changed: dict[str, Any] = {
        one.name: one.default for one in fields(options) if one.name in names
    }
    if isinstance(options, CollectiveOptions):
        changed["beside"] = True
    # Two runs with one file or one checkpoint folder would overwrite each other's data.
    return replace(options, **changed, line=PYTHON)
