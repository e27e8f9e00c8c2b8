"""``mpinet optimum``: the fewest steps of a broadcast, with a schedule and a certificate."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from mpinet.base.files import require_writable
from mpinet.commands.catalogue import SYNONYMS
from mpinet.commands.job import Job, Watch
from mpinet.commands.optimum import OptimumOptions, Sought
from mpinet.errors import UsageError
from mpinet.jobs.fabric import parts_of
from mpinet.jobs.itemsoptimum import ItemsOptimum, shown
from mpinet.jobs.jointoptimum import JointOptimum
from mpinet.jobs.pipelineoptimum import (
    PipelineOptimum,
    require_items,
    require_switches,
)
from mpinet.jobs.proofs import ProvingJob, Upper, require_certificate_file
from mpinet.jobs.widthoptimum import WidthOptimum
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import PIPELINED, ROOTLESS, SPREADING, TWO_HALVES
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.measure.optimum.search import Search
    from mpinet.networks.members import Members
    from mpinet.programs.schedules.timetable import Timetable

BISECTION = "bisection"
"""No collective, but the fewest channels between two halves: proved by certificates, too."""


def prepare(options: OptimumOptions) -> Job:
    """Find the root; refuse what cannot be."""
    from mpinet.programs.collective import require_processor
    from mpinet.programs.passes import sees_whole
    from mpinet.programs.pipelines.switching import behavior, only_forwards

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
    root = topology.find(str(options.root))
    require_processor(topology, root)
    if options.by is not None and options.collective != BISECTION:
        raise UsageError(
            "--by names the kind of certificate of a bisection width: it does not apply."
        )
    pipelined = options.items != 1 or options.collective in TWO_HALVES
    turned = options.collective != "exchange" and options.collective in PIPELINED
    behaves = behavior(options.collective, options.switches)
    pipelined |= turned and only_forwards(topology, behaves)
    if pipelined:
        require_items(options, topology)
    elif options.collective == "reduce" and not topology.links:
        raise UsageError("Over busses a reduction is no broadcast backwards: its optimum is open.")
    if options.collective in ROOTLESS and options.root not in (0, "0"):
        raise UsageError(f"--root does not apply: {options.collective} has none.")
    if not sees_whole(topology):
        raise UsageError(f"{topology.name} is too large to be searched as a whole.")
    if options.save is not None:
        require_certificate_file(Path(options.save))
    if options.schedule is not None:
        require_writable(Path(options.schedule))
    if options.collective == BISECTION:
        return _width(options, topology)
    if pipelined:
        return PipelineOptimum(options, topology, root)
    if options.collective in SPREADING:
        return Optimum(options, topology, root)
    return ItemsOptimum(options, topology, root)


def _at_once(options: OptimumOptions, fabric: Topology, parts: list[Members]) -> Job:
    """Return the search for several groups at once; refuse what is of one alone."""
    if options.collective == BISECTION or options.by is not None:
        raise UsageError("A bisection width is of one group alone.")
    for part in parts:
        if options.items != 1 or options.collective in TWO_HALVES:
            require_items(options, part)
    if options.save is not None:
        require_certificate_file(Path(options.save))
    return JointOptimum(options, fabric, parts)


def _width(options: OptimumOptions, topology: Topology) -> Job:
    """Return the search for a width; refuse options that are about steps."""
    if options.root not in (0, "0") or options.ports != "one" or options.schedule is not None:
        raise UsageError("--root, --ports and --schedule do not apply: a bisection takes no steps.")
    return WidthOptimum(options, topology)


class Optimum(ProvingJob):
    """Search of a broadcast's fewest steps: rank 0 makes it, and all ranks run the schedule."""

    open_fields = (
        *("lower", "upper", "lower_by", "upper_by", "exact", "bounds", "classes", "messages"),
    )

    def __init__(self, options: OptimumOptions, topology: Topology, root: int):
        super().__init__(options, topology)
        self._root = root

    def run(self, transport: Local, watch: Watch) -> Row:
        """Search, and run what was found."""
        from mpinet.measure.optimum.search import Search

        options = self.options
        own_algorithm, own = self._own(transport)
        timetable = self._passes()
        upper, by = timetable.last, "passes"
        if own is not None and own <= upper:
            upper, by = own, own_algorithm or ""
        model = PortModel.named(options.ports)
        self.model = model.as_json()
        search = Search(
            self._network, self._root, options.collective, options.ports, upper, by, options.limit
        )
        if transport.rank == 0:
            search.run()
        names = ("lower", "lower_by", "upper_by", "classes", "bounds", "limited")
        found = self.shared(transport, search, names, rows=self._rows(search))
        if found["rows"] is not None:
            timetable = _timetable(timetable, found["rows"])
        steps, messages, correct = self._run_schedule(transport, found["upper_by"], timetable)
        if transport.rank == 0:
            self._save(search, timetable)
        upper_of = Upper(steps, messages, found["upper_by"], correct, own, own_algorithm)
        return self.both_sides(found, self._root, upper_of)

    def _own(self, transport: Local) -> tuple[str | None, int | None]:
        """Run the network's own broadcast, or the tree: its name and its steps (collective)."""
        from mpinet.machine import Machine
        from mpinet.programs.broadcast import FLOODING, PASSES, TREE, broadcast, require_algorithm

        model = PortModel.named(self.options.ports)
        name, _ = require_algorithm(self._network, self._root, None, model)
        if name == PASSES and not self._network.links and model.send is not None:
            return None, None
        if name == PASSES:
            name = TREE if self._network.links else FLOODING
        machine = Machine(self._network, model, transport)
        found = broadcast(machine, self._root, name)
        whole = found.informed == self._network.hosts or name == FLOODING
        return name, found.steps if whole else None

    def _passes(self) -> Timetable:
        """Return the schedule that passes find, alike on every rank."""
        from mpinet.programs.passes import broadcast_timetable

        model = PortModel.named(self.options.ports)
        return broadcast_timetable(self._network, self._root, model)

    @staticmethod
    def _rows(search: Search) -> list[list[int] | None] | None:
        """Return the columns of the timetable that a solver has found; None if there is none."""
        if search.upper_by != "sat" or search.timetable is None:
            return None
        table = search.timetable
        columns = [table.step, table.sender, table.receiver]
        bus = None if table.bus is None else table.bus.tolist()
        return [*(column.tolist() for column in columns), bus]

    def _run_schedule(
        self, transport: Local, name: str, timetable: Timetable
    ) -> tuple[int, int, bool]:
        """Run the best schedule on the machine: steps, messages, whether all are informed."""
        from mpinet.machine import Machine
        from mpinet.programs.broadcast import Message, broadcast, by_timetable

        machine = Machine(self._network, PortModel.named(self.options.ports), transport)
        if name not in ("passes", "sat"):
            found = broadcast(machine, self._root, name)
            return found.steps, found.messages, found.informed == self._network.hosts
        message = Message(machine, self._root)
        with machine.spending() as spent:
            by_timetable(machine, timetable, message)
        informed = message.informed() == self._network.hosts
        return timetable.last, spent.messages, informed

    def _save(self, search: Search, timetable: Timetable) -> None:
        """Write the certificate, its proof beside it, and the schedule."""
        if self.options.schedule is not None:
            self.save_schedule(self._best(search.upper_by, timetable), search)
        missing = f"There is no certificate: {self.topology} has one processor."
        self.save_certificate(self.options.save, search, missing)

    def _best(self, name: str, timetable: Timetable) -> Timetable:
        """Return the collective's best schedule: that of an algorithm, or a search's timetable.

        A search's timetable is a broadcast's. A reduction is its reverse.
        """
        from mpinet.programs.schedules.taken import taken

        collective = self.options.collective
        if name not in ("passes", "sat"):
            model = PortModel.named(self.options.ports)
            _, table = taken(self._network, collective, self._root, name, model)
            return replace(table, ports=self.options.ports)
        if collective == "broadcast":
            return timetable
        return timetable.backwards(collective, timetable.last)

    def show(self, result: Row) -> str:
        """Format both bounds, and what shows them."""
        why = f"{result['lower']} not decided in {self.options.limit:g} s"
        return shown(result, why)


def _timetable(like: Timetable, columns: list[list[int] | None]) -> Timetable:
    """Return a timetable with other rows."""
    import numpy as np

    step, sender, receiver, bus = (
        None if column is None else np.array(column, np.int64) for column in columns
    )
    assert step is not None and sender is not None and receiver is not None
    chunk = np.zeros_like(step)
    return replace(like, step=step, sender=sender, receiver=receiver, chunk=chunk, bus=bus)
