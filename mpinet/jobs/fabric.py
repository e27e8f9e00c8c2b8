"""Parts of a network, from options: dead nodes and links, and groups of processors."""

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
from mpinet.jobs.faults import lasting_faults, refuse_busses
from mpinet.jobs.opening import topology_named
from mpinet.machine.transport import Local
from mpinet.networks.copies import copies_of
from mpinet.networks.members import Members, read_runs
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

VIEWS = ("record", "draw", "play", "trace", "checkpoint", "schedule_out", "save", "schedule")
"""Options for output files, which the comparison run without faults must not write."""


def parts_of(
    named: AnyNetwork, dead_words: str | None, group: str | None, factor: str | None = None
) -> tuple[Topology, list[Members]]:
    """Return the network without dead parts, and the subnetwork of each group or copy.

    For one group, the network is the group's subnetwork. Without groups the list is empty.

    Raises
    ------
    TopologyError
        A group has no members left, or its members are disconnected.
    UsageError
        A fault begins at a step, or a processor is in two groups.
    """
    network = topology_named(named)
    faults = refuse_busses(lasting_faults(network, dead_words))
    dead, links = faults.dead.tolist(), [(int(u), int(v)) for u, v in faults.cut]
    if factor is not None and group is not None:
        raise UsageError("--parts and --group: give one of the two.")
    if factor is not None:
        copies = copies_of(network, factor, dead, links)
        return Members(network, None, dead, links) if faults else network, copies
    groups = [] if group is None else groups_of(network, group)
    parts = [Members(network, members, dead, links) for members in groups]
    if len(parts) == 1:
        return parts[0], parts
    # A network without faults keeps its class, and therefore its family's schedules and routings.
    return Members(network, None, dead, links) if faults else network, parts


GRID = re.compile(r"(\d+)x(\d+)")
"""Groups by a rule: processors per group, and the distance between their numbers."""


def groups_of(network: Topology, said: str) -> list[list[int]]:
    """Read groups: ``0-3/4-7``, or by a rule ``4x1`` (blocks of 4), ``2x8`` (2 each, 8 apart).

    Raises
    ------
    TopologyError
        A group is not a group of the network's processors.
    UsageError
        The rule does not divide the number of processors, or a processor is in two groups.

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
                f"--group {said}: the {network.hosts} processors of {network.name} are not a "
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
    """Run the command without its faults, if any; return steps and bound (collective)."""
    if faults is None:
        return {}
    # The command is prepared again, because without faults another algorithm may be the default.
    found = module_of(options.command).prepare(_without_files(options)).run(transport, watch)
    # Proofs give a range of steps, runs give one number.
    steps = found["upper"] if "upper" in found else found["steps"]
    bound = found["lower"] if "lower" in found else found["lower_bound"]
    return {"intact_steps": steps, "intact_bound": bound}


def _without_files(options: Options) -> Options:
    """Return the options without faults and without output files."""
    names = {"faults", *VIEWS}
    changed: dict[str, Any] = {
        one.name: one.default for one in fields(options) if one.name in names
    }
    if isinstance(options, CollectiveOptions):
        changed["beside"] = True
    # Two runs with the same file or checkpoint folder would overwrite each other's data.
    return replace(options, **changed, line=PYTHON)
