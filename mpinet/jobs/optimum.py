"""``mpinet optimum``: find the fewest steps of a collective, with a schedule and a certificate."""

from __future__ import annotations

from pathlib import Path
from typing import get_args

from mpinet.base.files import require_writable
from mpinet.commands.catalogue import SYNONYMS
from mpinet.commands.job import Job
from mpinet.commands.optimum import OptimumOptions, Sought
from mpinet.errors import UsageError
from mpinet.jobs.fabric import parts_of
from mpinet.jobs.programs import require_pipeline
from mpinet.jobs.proofs import ProvingJob, require_certificate_file
from mpinet.jobs.searches import SEARCHES
from mpinet.jobs.together import seats_of
from mpinet.machine.model import PortModel
from mpinet.measure.libraries import require_library
from mpinet.networks.members import Members
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import (
    PIPELINED,
    ROOTED,
    ROOTLESS,
    SPREADING,
    SUMS,
    TWO_HALVES,
    Behavior,
)

BISECTION = "bisection"
"""Name of the bisection: fewest channels between two halves, also proved by certificates."""

LIBRARIES = {"flow": ("igraph", "measure"), "lrat": ("pysat", "optimum")}
"""Library for a kind of certificate of a width, and the extra for its installation."""


def prepare(options: OptimumOptions) -> Job:
    """Find the root and the search, reject impossible options, and return the job."""
    if options.topology in (*get_args(Sought), *SYNONYMS):
        sought = options.topology
        raise UsageError(
            f"optimum {sought} needs a network, as in: mpinet optimum {sought} hypercube:4"
        )
    topology, parts = parts_of(options.topology, options.faults, options.group)
    if not 0 <= options.limit < float("inf"):
        raise UsageError(f"--limit is a number of seconds, 0 or more, not {options.limit}.")
    require_switches(options.collective, options.switches)
    if len(parts) > 1:
        return _at_once(options, topology, parts)
    return _alone(options, topology)


def _alone(options: OptimumOptions, topology: Topology) -> Job:
    """Return the search for one group."""
    from mpinet.programs.collective import require_processor
    from mpinet.programs.passes import sees_whole
    from mpinet.programs.pipelines.switching import is_planned

    collective = options.collective
    root = topology.find(str(options.root))
    require_processor(topology, root)
    if options.by is not None and collective != BISECTION:
        raise UsageError("--by applies only to bisection.")
    pipelined = is_planned(topology, collective, options.items, options.switches)
    if pipelined:
        require_items(options, topology)
    elif collective == "reduce" and not topology.links:
        raise UsageError("The optimum of a reduction on busses is open: no search applies.")
    if collective in ROOTLESS and options.root not in (0, "0"):
        raise UsageError(f"--root does not apply: {collective} has no root.")
    if not sees_whole(topology):
        raise UsageError(f"{topology.name} is too large for a search.")
    if options.save is not None:
        require_certificate_file(Path(options.save))
    if options.schedule is not None:
        require_writable(Path(options.schedule))
    if collective == BISECTION:
        _require_width(options, topology)
        name = "width"
    elif pipelined:
        name = "many items"
    else:
        name = "one item" if collective in SPREADING else "each item"
    return ProvingJob(topology, options, SEARCHES[name], [root])


def _at_once(options: OptimumOptions, fabric: Topology, parts: list[Members]) -> Job:
    """Return the search for several groups at once; raise an error for options of a single group.

    Raises
    ------
    NodeError
        A group lacks the rank of the root.
    UsageError
        An option applies only to one group, or no pipeline moves this number of items.
    """
    if options.collective == BISECTION or options.by is not None:
        raise UsageError("--group: a bisection applies to one group only.")
    for part in parts:
        if options.items != 1 or options.collective in TWO_HALVES:
            require_items(options, part)
    if options.save is not None:
        require_certificate_file(Path(options.save))
    if options.schedule is not None:
        raise UsageError("--schedule does not apply to several groups at once.")
    roots = seats_of(options.root if options.collective in ROOTED else None, parts)
    return ProvingJob(fabric, options, SEARCHES["groups"], roots, parts)


def _require_width(options: OptimumOptions, topology: Topology) -> None:
    """Raise `UsageError` if options concern steps, or no search for a width exists."""
    if options.root not in (0, "0") or options.ports != "one" or options.schedule is not None:
        raise UsageError("--root, --ports and --schedule do not apply: a bisection takes no steps.")
    if topology.hosts < 2:
        raise UsageError(f"{topology.name} has one processor: there are no halves.")
    if options.by in LIBRARIES:
        require_library(*LIBRARIES[options.by])


def require_switches(collective: str, switches: Behavior) -> None:
    """Raise `UsageError` if the collective has no use for the requested switch behaviour."""
    named = {"combine": SUMS, "copy": (collective,), "forward": PIPELINED}
    if collective not in named[switches]:
        raise UsageError(
            f"--switches {switches} does not apply to {collective}, only to "
            f"{', '.join(named[switches])}."
        )


def require_items(options: OptimumOptions, topology: Topology) -> None:
    """Raise `UsageError` unless the collective can move this number of items.

    Raises
    ------
    UsageError
        The collective has no pipelines, or none for this number of items.
    """
    collective = options.collective
    if collective not in PIPELINED:
        raise UsageError(
            f"--items does not apply to {collective}: pipelines are for {', '.join(PIPELINED)}."
        )
    model = PortModel.named(options.ports)
    require_pipeline(topology, collective, None, options.items, model, None, options.switches)
