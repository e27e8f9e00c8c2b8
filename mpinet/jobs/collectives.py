"""The job of every collective: for any number of items, on all processors or in groups.

The table in `mpinet.commands.algorithms` determines the program and the fields of the result.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mpinet.base.files import require_writable
from mpinet.commands.algorithms import COLLECTIVES, MULTICAST
from mpinet.commands.collectiveresult import CollectiveResult
from mpinet.commands.job import Job, Watch, without_simple_reason
from mpinet.commands.optionrecords import values_of
from mpinet.commands.options import CollectiveOptions, ReductionOptions, RootedOptions
from mpinet.errors import UsageError
from mpinet.jobs.fabric import intact, parts_of
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.programs import Prepared, is_pipeline, values_of_parameters
from mpinet.jobs.together import AtOnce
from mpinet.machine.dry import Dry
from mpinet.machine.transport import Local
from mpinet.networks.members import read_runs
from mpinet.programs.kinds import OF_EACH
from mpinet.report.rows import Row, phase_rows
from mpinet.report.tables import table, with_phases

if TYPE_CHECKING:
    from mpinet.programs.rehearsal.rehearsal import Rehearsal


def prepare(options: CollectiveOptions) -> Job:
    """Find groups, root and program, reject impossible options, and return the job."""
    given = options.faults, options.group, options.parts
    topology, parts = parts_of(options.topology, *given)
    row = COLLECTIVES[options.command]
    if len(parts) > 1:
        return CollectiveJob(options, topology, AtOnce(options, topology, parts))
    # A run may take hours, so an unwritable file is an error before the run.
    if (file := _schedule_file(options)) is not None:
        require_writable(file)
    root = topology.find(str(options.root)) if isinstance(options, RootedOptions) else None
    targets = getattr(options, "to", None)
    if targets is not None:
        refuse_to(options)
        wanted = read_runs(topology, targets) if isinstance(targets, str) else [*targets]
        values = values_of_parameters(options, topology, root) | {"targets": wanted}
        work = Prepared(MULTICAST, values)
        return CollectiveJob(options, topology, work, root, False, len({root, *wanted}))
    is_planned = is_pipeline(options, topology)
    # A schedule lists for each processor the informing message. With several items, no single
    # message informs a processor.
    if is_planned and options.is_scheduled:
        raise UsageError(
            "--schedule applies to one item and to switches that copy: otherwise give --record "
            "FILE."
        )
    program = row.many if is_planned else row.one
    assert program is not None
    work = Prepared(program, values_of_parameters(options, topology, root))
    return CollectiveJob(options, topology, work, root, is_planned)


def refuse_to(options: CollectiveOptions) -> None:
    """Raise `UsageError` for an option that does not apply to a broadcast to a set."""
    given = values_of(options)
    given["items"] -= 1
    for name in ("algorithm", "items", "group", "parts", "schedule", "schedule_out"):
        if given.get(name):
            raise UsageError(f"--{name.replace('_', '-')} does not apply with --to.")


def _schedule_file(options: CollectiveOptions) -> Path | None:
    """Return the file for the lines of a broadcast's schedule."""
    name = getattr(options, "schedule_out", None)
    return None if name is None else Path(name)


def _given(values: Row) -> Row:
    """Return the values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


@dataclass(eq=False, repr=False)
class CollectiveJob(MachineJob):
    """A collective on a machine, with a check of the result."""

    options: CollectiveOptions

    _work: Prepared | AtOnce
    _root: int | None = None
    _is_planned: bool = True
    _wanted: int | None = None

    def needs(self, ranks: int) -> int:
        """Return the bytes that the program needs."""
        return self._work.needs(self.share(ranks))

    def needs_once(self, ranks: int) -> int:
        """Return the bytes needed by the program on a single rank."""
        return self._work.once(self.share(ranks))

    def run(self, transport: Local, watch: Watch) -> Row:
        """Make the machine, run the collective, and return the result row."""
        from mpinet.machine.trace import Trace
        from mpinet.report.hashes import hash_into, schedule_lines

        options = self.options
        trace = Trace() if options.is_scheduled else None
        machine = self.make_machine(transport, watch, trace=trace)
        found = self._work.run(machine=machine)
        self.note_crossing(machine)
        # Every rank computes the groups' schedules itself, without preparatory messages.
        if isinstance(self._work, Prepared):
            self.preparation = asdict(found.preparation)
        values = self._values(found)
        if trace is not None:
            lines = schedule_lines(transport, trace, found.steps)
            values["schedule_sha256"] = hash_into(lines, _schedule_file(options), transport)
        values |= intact(options, options.faults, transport, watch)
        # Digests cover all fields of a result. A field outside the table would change the digests
        # of older results.
        shown = CollectiveResult.hints_for(options.command)
        return {name: value for name, value in values.items() if name in shown}

    def _values(self, found: Any) -> Row:
        """Return all values of a result by field name; the table selects the fields to show."""
        row, options = COLLECTIVES[self.options.command], self.options
        value = getattr(found, "value", None)
        reduces = isinstance(options, ReductionOptions) and value is not None
        before = {
            "items": found.items if self._is_planned else None,
            "operator": getattr(options, "operator", None) if reduces else None,
            "value": value,
        }
        always = {
            "algorithm": found.algorithm,
            "steps": found.steps,
            "messages": found.messages,
            "informed": getattr(found, "informed", None),
            "lower_bound": found.lower_bound,
            "lower_by": found.lower_bound.by,
            "correct": getattr(found, "correct", None),
            "phases": phase_rows(found.phases),
        }
        after = {
            "by_orbit": getattr(found, "by_orbit", None),
            "skipped": [*found.skipped] or None,
            "groups": getattr(found, "groups", None),
        }
        # A broadcast of one item to only some processors is incomplete, not wrong. The number of
        # informed processors shows the gap.
        if not self._is_planned:
            always = {name: value for name, value in always.items() if name not in row.hides}
        values = _given(before) | always | _given(after)
        # A null rate means a network too large for the search of rates.
        if self._is_planned and isinstance(self._work, Prepared):
            rate = found.rate
            values["bandwidth"] = None if rate is None else [rate.numerator, rate.denominator]
        return values

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Run a single rank on one process, for ``mpinet predict``."""
        if self._is_planned:
            raise UsageError("--items does not apply: predict supports one item only.")
        if self._wanted is not None:
            raise UsageError("--to does not apply: predict supports broadcasts to all processors.")
        if self.options.is_scheduled:
            raise UsageError(
                "--schedule does not apply: one rank knows only its own part of the schedule."
            )
        assert isinstance(self._work, Prepared)
        found: Rehearsal = self._work.rehearse(machine=self.make_machine(dry), dry=dry)
        return found

    def shortfall(self, result: Row) -> str:
        """Return a sentence if a broadcast did not reach all processors, or the result is wrong."""
        informed, hosts = result.get("informed"), self._wanted or self.network.hosts
        if informed in (None, hosts) or "correct" in result:
            return super().shortfall(result)
        return f"The broadcast is incomplete: {informed} of {hosts} processors are informed."

    def show(self, result: Row) -> str:
        """Format the counts, the phases, the rate, and the steps of each group alone."""
        heading = self.title
        # The reason of a bound for several groups is always shown, because a cut of all groups may
        # be the reason.
        shown = dict(result if "groups" in result else without_simple_reason(result))
        groups, rate = shown.pop("groups", None), shown.pop("bandwidth", None)
        if "informed" in result and "correct" not in result:
            heading += f" from {self._root}"
            if self.shortfall(result):
                shown["informed"] = f"{result['informed']} of {self.network.hosts}: incomplete"
        if rate is not None:
            items, steps = rate
            each = " of each processor" if self.options.command in OF_EACH else ""
            shown["bandwidth"] = (
                f"at most {items} item{'s' * (items > 1)}{each} in {steps} step{'s' * (steps > 1)}"
            )
        if groups is None:
            return with_phases(heading, shown, self.preparation)
        heading = f"{self.options.command} of {len(groups)} groups at once on {self.topology}"
        columns = ("group", "processors", "algorithm", "steps", "lower_bound")
        rows = [tuple(group[name] for name in columns) for group in groups]
        alone = table(rows, ("group", "processors", "algorithm", "alone", "bound"))
        return f"{with_phases(heading, shown)}\n\n{alone}"
