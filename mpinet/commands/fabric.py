"""The fabric that options name: dead nodes and links, and the processors that take part."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from mpinet.commands.faults import lasting_faults
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import topology_of
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local

VIEWS = ("record", "draw", "play", "trace", "checkpoint", "schedule_out", "save", "schedule")
"""Options that name files, which a run beside another does not write."""


def fabric_of(options: argparse.Namespace) -> Topology:
    """The network that was named, without what is dead, and the group of it that takes part.

    Raises
    ------
    TopologyError
        No member is left, or members are cut off from each other.
    UsageError
        Something dies at a step.
    """
    from mpinet.networks.members import Members, read_runs

    network = topology_of(options)
    said, faults = getattr(options, "group", None), lasting_faults(network, options.faults)
    if said is None and not faults:
        return network
    group = None if said is None else read_runs(network, said)
    links = [(int(u), int(v)) for u, v in faults.cut]
    return Members(network, group, faults.dead.tolist(), links)


def intact(options: argparse.Namespace, transport: Local, watch: Watch) -> Row:
    """Run the same where nothing is dead: its steps and bound, if there are faults (collective)."""
    from mpinet.commands import function_of

    if options.faults is None:
        return {}
    nothing = dict.fromkeys({"faults", *VIEWS} & vars(options).keys())
    whole = argparse.Namespace(**{**vars(options), **nothing}, beside=True)
    job: Job = sys.modules[function_of(options.command).__module__].prepare(whole)
    found = job.run(transport, watch)
    steps = found["upper"] if "upper" in found else found["steps"]
    bound = found["lower"] if "lower" in found else found["lower_bound"]
    return {"intact_steps": steps, "intact_bound": bound}
