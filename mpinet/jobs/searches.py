"""Searches of ``mpinet optimum``: each finds a lower bound, and a schedule or cut."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from mpinet.commands.algorithms import COLLECTIVES
from mpinet.commands.job import skipped_field
from mpinet.errors import OutOfReach, UsageError
from mpinet.jobs.programs import called
from mpinet.jobs.proofs import Findings, ProofSearch, ProvingJob, Upper
from mpinet.jobs.together import demands_of
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.programs.collective import CollectiveOutcome
    from mpinet.programs.schedules.timetable import Timetable

FOUND_HERE = ("passes", "sat")
"""Searches with a timetable as result; all further names are algorithms."""

SEARCHED = {
    "scatter": (("flow",), ("flow",)),
    "gather": (("flow",), ("flow",)),
    "gossip": (("translations", "matching"), ("translations", "rarest")),
    "exchange": (("farthest",), ("farthest",)),
}
"""Algorithms with few steps, on one port and on all ports, in addition to the network's own. The
first applicable algorithm is run."""

MOST_ROUTED = 2**7
"""Largest number of processors on busses for which a routed gossip is run for comparison."""

MOST_LISTED = 12
"""Largest number of ranges in a printed cut."""


def of_one_item(job: ProvingJob, transport: Local) -> Findings:
    """Search the fewest steps of a broadcast, or of a reduction as the reverse of a broadcast."""
    from mpinet.measure.optimum.search import Search
    from mpinet.programs.broadcast import broadcast
    from mpinet.programs.passes import broadcast_timetable
    from mpinet.programs.playing import play_rows
    from mpinet.programs.schedules.timetable import table_columns, table_of

    options, root = job.options, job.roots[0]
    own_algorithm, own = _own_broadcast(job, transport)
    timetable = broadcast_timetable(job.network, root, job.ports)
    upper, by = timetable.last, "passes"
    # With equal steps the network's own schedule wins: its name is more informative, and needs no
    # table.
    if own is not None and own <= upper:
        upper, by = own, own_algorithm or ""
    search = Search(job.network, options.collective, root, options.ports, upper, by, options.limit)
    if transport.rank == 0:
        search.run()
    # Only rank 0 has searched. The other ranks need its schedule, because each rank runs its own
    # part.
    solved = None if search.timetable is None else table_columns(search.timetable)
    found = job.shared(transport, search, "upper_by", "classes", table=solved)
    if found["table"] is not None:
        timetable = table_of(found["table"])
    machine, by = job.machine(transport), found["upper_by"]
    if by in FOUND_HERE:
        spent, held = play_rows(machine, timetable)
        informed = job.network.hosts - held.short()
        steps, messages = timetable.last, spent.messages
    else:
        run = broadcast(machine, root, by)
        steps, messages, informed = run.steps, run.messages, run.informed
    correct = informed == job.network.hosts
    upper_of = Upper(steps, messages, by, correct, own, own_algorithm)
    return Findings(job.both_sides(found, upper_of), search, lambda: _best(job, by, timetable))


def _own_broadcast(job: ProvingJob, transport: Local) -> tuple[str | None, int | None]:
    """Run the network's own broadcast, or the tree; return its name and steps (collective)."""
    from mpinet.programs.broadcast import FLOODING, PASSES, TREE, broadcast, require_algorithm

    network, root = job.network, job.roots[0]
    name, _ = require_algorithm(network, root, None, job.ports)
    if name == PASSES and not network.links and job.ports.send is not None:
        return None, None
    if name == PASSES:
        name = TREE if network.links else FLOODING
    found = broadcast(job.machine(transport), root, name)
    whole = found.informed == network.hosts or name == FLOODING
    return name, found.steps if whole else None


def _best(job: ProvingJob, name: str, timetable: Timetable) -> Timetable:
    """Return the collective's best schedule: an algorithm's schedule, or a search's timetable.

    A search's timetable is a broadcast; a reduction reverses the timetable.
    """
    collective = job.options.collective
    if name not in FOUND_HERE:
        return replace(_taken(job, name), ports=job.options.ports)
    if collective == "broadcast":
        return timetable
    return timetable.backwards(collective, timetable.last)


def _taken(job: ProvingJob, algorithm: str) -> Timetable:
    """Return the schedule of an algorithm."""
    from mpinet.programs.schedules.taken import taken

    return taken(job.network, job.options.collective, job.root or 0, algorithm, job.ports)[1]


def of_each_item(job: ProvingJob, transport: Local) -> Findings:
    """Search a scatter, gather, gossip or exchange: a cut, and the best algorithm."""
    from mpinet.measure.optimum.items import ItemsBound
    from mpinet.programs.gossip import require_algorithm

    options = job.options
    searched, own = _searched(job, transport), None
    # The network's own algorithm is run for comparison. If the router would carry all pairs, the
    # run would take far longer than the search.
    if searched is None or not _own_takes_long(job):
        gossips = options.collective == "gossip"
        name = require_algorithm(job.network, False, None) if gossips else None
        own = _perform(job, transport, name)
    runs = [run for run in (own, searched) if run is not None]
    best = min(runs, key=lambda run: run.steps)
    simple = runs[0].lower_bound
    known = max(runs[-1].lower_bound, simple)
    search = ItemsBound(job.network, options.collective, job.root, options.ports)
    if transport.rank == 0:
        search.run(known, simple, best.steps)
    found = job.shared(transport, search)
    found["bounds"] = {simple.by: int(simple), found["lower_by"]: found["lower"]}
    own_of = () if own is None else (own.steps, own.algorithm)
    upper = Upper(best.steps, best.messages, best.algorithm, best.correct, *own_of)
    result = job.both_sides(found, upper)
    result |= skipped_field([*dict.fromkeys(name for run in runs for name in run.skipped)])
    if getattr(best, "by_orbit", False):
        result["by_orbit"] = True
    return Findings(result, search, lambda: _taken(job, best.algorithm))


def _own_takes_long(job: ProvingJob) -> bool:
    """Return True for a gossip on a large network, where routing takes longer than the search."""
    from mpinet.programs.fewest import MOST_MOVED

    most = MOST_MOVED if job.network.links else MOST_ROUTED
    return job.network.hosts > most and job.options.collective == "gossip"


def _searched(job: ProvingJob, transport: Local) -> CollectiveOutcome | None:
    """Run the algorithm that searches for few steps; None if none applies."""
    names: tuple[str | None, ...] = SEARCHED[job.options.collective][job.options.ports == "all"]
    if job.options.collective == "gossip" and job.network.links and not _own_takes_long(job):
        names = (None, *names)  # None: the fewest steps of all
    for algorithm in names:
        with suppress(UsageError):
            return _perform(job, transport, algorithm)
    return None


def _perform(job: ProvingJob, transport: Local, algorithm: str | None) -> CollectiveOutcome:
    """Run an algorithm on the machine (collective)."""
    program = COLLECTIVES[job.options.collective].one
    assert program is not None
    given = {"machine": job.machine(transport), "root": job.root, "algorithm": algorithm}
    found: CollectiveOutcome = called(program.run, given | {"seed": job.options.seed})
    return found


def of_many_items(job: ProvingJob, transport: Local) -> Findings:
    """Search a pipeline: counts and cuts as bounds, and the best pipeline."""
    from mpinet.measure.optimum.pipelined import PipelinedSearch
    from mpinet.programs.pipelines.collectives import plan
    from mpinet.programs.playing import perform

    options, machine = job.options, job.machine(transport)
    planned = plan(machine, options.collective, options.items, job.root, switches=options.switches)
    search = PipelinedSearch(
        job.network, options.collective, job.root, options.ports, options.items
    )
    if transport.rank == 0:
        search.run(planned.table.last, options.limit)
        refused = {each["by"] for each in search.selfcheck.refused}
        # A planned bound without a certificate also counts, unless the checker has just rejected
        # this bound.
        if planned.bound > search.lower and planned.bound.by not in refused:
            search.hold(int(planned.bound), planned.bound.by, {})
            search.bounds[planned.bound.by] = search.lower
    known = job.shared(transport, search)
    found, name = perform(machine, planned.table, options.seed), planned.algorithm
    upper = Upper(found.steps, found.messages, name, bool(found.correct), found.steps, name)
    result = job.both_sides(known, upper, items=options.items) | skipped_field(planned.skipped)
    return Findings(result, search, lambda: planned.table)


def of_several_groups(job: ProvingJob, transport: Local) -> Findings:
    """Search bounds on the steps of several groups at once.

    The upper bound interleaves the groups' schedules in common steps. The lower bound is the joint
    demand into a set of nodes, with a certificate, or the bound of one group alone.
    """
    from mpinet.measure.optimum.certified import Certified
    from mpinet.programs.pipelines.crossings import joint_cut
    from mpinet.programs.pipelines.interleaving import interleaved
    from mpinet.programs.pipelines.together import WantedCollective, run

    options, collective, model = job.options, job.options.collective, job.ports
    wanted = WantedCollective(model, collective, options.items, None, options.switches)
    parties = [
        wanted.party(job.network, part, root)
        for part, root in zip(job.parts, job.roots, strict=True)
    ]
    machine = job.machine(transport)
    tables = interleaved(job.network, model, parties)
    spent, sets = run(machine, parties, tables, options.seed, "sum")
    correct = not any([held.short() for held in sets])
    alone = max(one.bound for one in parties)
    groups = [one.place[: one.part.hosts].tolist() for one in parties]
    # The bound of one group alone holds for all groups together. A joint cut replaces this bound
    # only if the checker accepts the cut.
    search = Certified(job.network, lower=int(alone), lower_by=alone.by)
    if transport.rank == 0:
        demands = demands_of(collective, options.items, parties, job.roots)
        joint, inside = joint_cut(job.network, model.send == 1, demands)
        if 0 < joint >= alone:
            claim: dict[str, Any] = {"collective": collective, "ports": options.ports}
            claim |= {"root": job.root, "more_than": joint - 1}
            claim |= {"items": options.items, "groups": groups}
            made = search.document(claim, "joint", {"inside": inside})
            if search.holds(int(joint), "joint", made):
                search.hold(int(joint), "joint", made)
    both = job.shared(transport, search)
    both["bounds"] = {alone.by: int(alone), both["lower_by"]: both["lower"]}
    names = ", ".join(dict.fromkeys(one.algorithm for one in parties))
    many = {} if options.items == 1 else {"items": options.items}
    result = job.both_sides(both, Upper(spent.steps, spent.messages, names, correct), **many)
    return Findings(result | {"groups": groups}, search)


def of_a_width(job: ProvingJob, transport: Local) -> Findings:
    """Search the narrowest cut into halves, and a certificate that no cut is narrower."""
    from mpinet.measure.optimum.halves import WidthSearch

    search = WidthSearch(job.network, job.options.limit, job.options.by)
    if transport.rank == 0:
        search.run()
    found = job.shared(transport, search, "upper", "upper_by", "side")
    refused = found.pop("refused")
    if not refused and found["lower_by"] is None:
        _require_no_certificate(job, found["upper"])
    names = ("lower", "upper", "lower_by", "upper_by", "side", "bounds")
    result = {
        "measure": "bisection",
        "network": job.topology,
        "exact": found["lower"] == found["upper"],
        **{name: found.pop(name) for name in names},
        **found,
        **job.refusals(refused),
        "seconds": job.seconds,
    }
    return Findings(result, search)


def _require_no_certificate(job: ProvingJob, upper: int) -> None:
    """Raise an error if a certificate was requested, because none was found."""
    if job.options.by is None and job.options.save is None:
        return
    if upper == 0:
        raise UsageError(f"{job.topology} has a cut without links: there is nothing to certify.")
    raise OutOfReach(job.no_certificate)


def _width_shown(job: ProvingJob, result: Row) -> str:
    """Format the lower and upper bound of a width, with their reasons."""
    lower, upper = result["lower"], result["upper"]
    medium = "links" if job.network.links else "busses"
    lines = {
        "width": f"{upper}   (proved)"
        if result["exact"]
        else f"{lower} .. {upper}   (open: {lower} not decided)",
        "cut": f"{upper} {medium}, found by {result['upper_by']}: nodes "
        f"{runs(result['side'])} on one side",
    }
    if result["lower_by"] is not None:
        lines[f"not {lower - 1}"] = result["lower_by"]
        lines["bounds"] = "   ".join(f"{name} {w}" for name, w in result["bounds"].items())
    return f"bisection width of {job.topology}\n{fields(lines)}"


def runs(numbers: list[int]) -> str:
    """Format ascending numbers as ranges, ``0-3,8-11``, and only the first of many ranges."""
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][-1] + 1:
            found[-1][1:] = [number]
        else:
            found.append([number])
    words = ["-".join(map(str, each)) for each in found[:MOST_LISTED]]
    return ",".join(words) + (",.." if len(found) > MOST_LISTED else "")


NO_CUT = (
    "There is no certificate: the bound of {collective} on {network} uses no cut that is "
    "searched on a network of this size."
)

SEARCHES = {
    "one item": ProofSearch(
        of_one_item,
        "There is no certificate: {network} has one processor.",
        ("lower", "upper", "lower_by", "upper_by", "exact", "bounds", "classes", "messages"),
        "{lower} not decided in {limit} s",
    ),
    "each item": ProofSearch(of_each_item, NO_CUT),
    "many items": ProofSearch(of_many_items, NO_CUT, ("lower", "lower_by", "bounds")),
    "groups": ProofSearch(
        of_several_groups,
        "There is no certificate: on {network} the bound of one group alone is as large as "
        "any joint cut; optimum --group of this group alone has a certificate.",
    ),
    "width": ProofSearch(
        of_a_width,
        "There is no certificate{by} for {network}, or it takes more than --limit {limit}.",
        ("lower", "upper", "lower_by", "upper_by", "exact", "bounds", "side"),
        shown=_width_shown,
    ),
}
"""The searches of the command, by purpose."""
