"""The fabric that options name: dead nodes and links, and the processors that take part."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from mpinet.base.numerals import is_whole, quoted
from mpinet.commands.job import Job, Watch
from mpinet.commands.opening import topology_of
from mpinet.errors import FileError, UsageError
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.faults import Faults
    from mpinet.machine.transport import Local

MOST_READ = 1 << 26
"""Most characters of a file of faults: a device that has no end is refused, a pipe is not."""

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


def lasting_faults(topology: Topology, text: str | None) -> Faults:
    """Read what is dead throughout; refuse what dies at a step."""
    faults = parse_faults(topology, text)
    if faults.changes:
        raise UsageError("--faults with steps is for load: what is dead here is dead throughout.")
    return faults


def parse_faults(topology: Topology, text: str | None) -> Faults:
    """Read ``node:U,link:U-V,..``, or a file with such words on its lines.

    A word may end on the steps in which it is dead, ``@FROM`` or ``@FROM-TO`` (see `Passing`).

    Raises
    ------
    UsageError
        Something else stands there.
    """
    from mpinet.machine.faults import Faults, Passing

    if text is None:
        return Faults(topology)
    if not text.startswith(("node:", "link:")):
        text = ",".join(_words_in(text))
    always: list[tuple[int, ...]] = []
    passing = []
    for word in filter(None, text.split(",")):
        name, at, when = word.partition("@")
        kind, _, where = name.partition(":")
        ends = where.split("-") if kind == "link" else [where]
        if kind not in ("node", "link") or len(ends) != 1 + (kind == "link") or not all(ends):
            raise UsageError(f"--faults: {word!r} is neither node:U nor link:U-V.")
        what, steps = tuple(map(topology.find, ends)), when.split("-")
        if not at:
            always.append(what)
        elif len(steps) <= 2 and all(map(is_whole, steps)):
            passing.append(Passing(what, *map(int, steps)))
        else:
            raise UsageError(
                f"--faults: {quoted(word)}: give the steps as @FROM, or @FROM-TO, TO being the one "
                "in which it is back."
            )
    nodes = [what[0] for what in always if len(what) == 1]
    links = [(what[0], what[1]) for what in always if len(what) == 2]
    return Faults(topology, nodes, links, passing)


def _words_in(name: str) -> list[str]:
    """Read the words of a file; refuse one that does not come to an end."""
    try:
        with open(name) as file:
            text = file.read(MOST_READ + 1)
    except (OSError, UnicodeDecodeError):
        raise FileError(f"--faults {name}: give node:U, link:U-V, .. or a file.") from None
    if len(text) > MOST_READ:
        raise FileError(
            f"--faults {name}: a file of faults has {MOST_READ} characters at most, and this one "
            "has more."
        )
    return text.split()
