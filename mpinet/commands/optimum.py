"""``mpinet optimum``: the fewest steps of a broadcast, with a schedule and a certificate."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, get_args

from mpinet.base.files import require_writable
from mpinet.commands.catalogue import SYNONYMS
from mpinet.commands.fabric import parts_of
from mpinet.commands.fields import Count, Fields, Hash, Positive, When
from mpinet.commands.itemsoptimum import ItemsOptimum, shown
from mpinet.commands.job import Job, Watch
from mpinet.commands.jointoptimum import JointOptimum
from mpinet.commands.opening import Network
from mpinet.commands.options import (
    Common,
    FaultWords,
    File,
    GroupWords,
    Place,
    Ports,
    Seed,
    Switches,
)
from mpinet.commands.perform import perform
from mpinet.commands.pipelineoptimum import (
    PipelineOptimum,
    require_items,
    require_switches,
)
from mpinet.commands.proofs import ProvingJob, Upper, require_certificate_file
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, command
from mpinet.commands.widthoptimum import Way, WidthOptimum
from mpinet.errors import UsageError
from mpinet.machine.model import PortModel
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import PIPELINED, ROOTLESS, SPREADING, TWO_HALVES, Collective
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.measure.optimum.search import Search
    from mpinet.networks.members import Members
    from mpinet.programs.schedules.timetable import Timetable

BISECTION = "bisection"
"""No collective, but the fewest channels between two halves: proved by certificates, too."""

Sought = Literal[Collective, "bisection"]
"""Names of the collectives and the cut whose optimum is searched."""


class Refusal(Fields):
    """A certificate of the search that the checker refuses."""

    lower: Positive
    by: str
    reason: str


COLLECTIVE, WIDTH = When("of a collective"), When("of ``bisection``")


class OptimumResult(Result):
    """Result of ``optimum``, of a collective or of ``bisection``."""

    network: str
    edges_sha256: Hash
    lower: Count
    upper: Count
    exact: bool
    lower_by: Annotated[
        str | None,
        "distance, growth, class-lp, lrat, cut, cuts (with weights), flow, or hops of many items; "
        "over no cut ends or hops, which have no certificate; of a bisection the kind of "
        "certificate, null where the width is 0 or no kind shows anything",
    ]
    upper_by: Annotated[str, "of a bisection search, front or sat"]
    bounds: Annotated[dict[str, Count | None], "steps or links by kind of bound"]
    seconds: float
    collective: Annotated[str, COLLECTIVE]
    items: Annotated[Positive, When("of more than one, and of allreduce and reducescatter,")]
    root: Annotated[Count | None, COLLECTIVE]
    ports: Annotated[Ports, COLLECTIVE]
    own: Annotated[Count | None, COLLECTIVE]
    own_algorithm: Annotated[str | None, COLLECTIVE]
    classes: Annotated[Any, COLLECTIVE]
    messages: Annotated[Count, COLLECTIVE]
    correct: Annotated[bool, COLLECTIVE]
    groups: Annotated[list[list[Count]], When("of several groups at once")]
    by_orbit: Annotated[
        Literal[True], When("by ``translations`` of a large network"), "as of ``gossip``"
    ]
    intact_steps: Annotated[Count, When("with ``--faults``"), "steps without the faults"]
    intact_bound: Annotated[Count | None, When("with ``--faults``"), "their lower bound"]
    measure: Annotated[Literal["bisection"], WIDTH]
    side: Annotated[list[Count], WIDTH, "nodes on one side of a cut of ``upper`` links or busses"]
    refused: Annotated[
        list[Refusal], When("where the checker refuses a certificate of the search itself,")
    ]

    kinds_: ClassVar = (COLLECTIVE, WIDTH)


@command(Common)
def optimum(
    topology: Network,
    *,
    collective: Annotated[Sought, Typed(words=())] = "broadcast",
    items: int = 1,
    switches: Switches = "copy",
    group: GroupWords = None,
    faults: FaultWords = None,
    root: Place = 0,
    ports: Ports = "one",
    limit: Annotated[float, Typed(metavar="SECONDS")] = 60.0,
    save: File | None = None,
    schedule: File | None = None,
    by: Way | None = None,
    seed: Seed = 0,
) -> OptimumResult:
    """Find the fewest steps of a collective, or what is known of them (collective).

    Or of the links between two halves: the bisection width.

    Parameters
    ----------
    collective : str
        Collective whose steps are counted; or ``bisection``, the fewest links between two halves.
    items : int
        Items in a pipeline, of all collectives but scatter and gather.
    root : int or str
        Processor where the collective starts, or ends: a number or an address. Gossip, exchange and
        allreduce and reducescatter have none.
    limit : float
        Seconds of search.
    save, schedule : str, optional
        Files for the certificate and the schedule.
    by : {'eigenvalue', 'flow', 'front', 'lrat'}, optional
        Kind of certificate of a bisection width; default: the first that is found.
    seed : int
        Ignored: a search draws nothing.

    Returns
    -------
    Result
        Refused bounds count for nothing, and the exit status is 1. The digest leaves out seconds,
        and what more time could change where ``exact`` is false. FILE: a certificate (with a proof,
        also FILE's name with ``.lrat.xz``); a schedule as rows step, from, to, chunk.

    Examples
    --------
    ``mpinet optimum hypercube:4``

    ``mpinet optimum allreduce ring:8 --items 8 --save proof.json``

    >>> import mpinet
    >>> mpinet.optimum("hypercube:4").upper
    4
    >>> mpinet.optimum("hypercube:4", collective="bisection").lower
    8
    """
    return perform(optimum, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Find the root; refuse what cannot be."""
    from mpinet.programs.collective import require_processor
    from mpinet.programs.passes import sees_whole
    from mpinet.programs.pipelines.spreading import behavior, only_forwards

    if options.topology in (*get_args(Sought), *SYNONYMS):
        sought = options.topology
        raise UsageError(
            f"optimum {sought} needs a network, as in: mpinet optimum {sought} hypercube:4"
        )
    topology, parts = parts_of(options)
    if not 0 <= options.limit < float("inf"):
        raise UsageError(f"--limit is a number of seconds, 0 or more, not {options.limit}.")
    require_switches(options)
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


def _at_once(options: argparse.Namespace, fabric: Topology, parts: list[Members]) -> Job:
    """Return the search for several groups at once; refuse what is of one alone."""
    if options.collective == BISECTION or options.by is not None:
        raise UsageError("A bisection width is of one group alone.")
    for part in parts:
        if options.items != 1 or options.collective in TWO_HALVES:
            require_items(options, part)
    if options.save is not None:
        require_certificate_file(Path(options.save))
    return JointOptimum(options, fabric, parts)


def _width(options: argparse.Namespace, topology: Topology) -> Job:
    """Return the search for a width; refuse options that are about steps."""
    if options.root not in (0, "0") or options.ports != "one" or options.schedule is not None:
        raise UsageError("--root, --ports and --schedule do not apply: a bisection takes no steps.")
    return WidthOptimum(options, topology)


class Optimum(ProvingJob):
    """Search of a broadcast's fewest steps: rank 0 makes it, and all ranks run the schedule."""

    open_fields = (
        *("lower", "upper", "lower_by", "upper_by", "exact", "bounds", "classes", "messages"),
    )

    def __init__(self, options: argparse.Namespace, topology: Topology, root: int):
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
        self._save(transport, search, timetable)
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

    def _save(self, transport: Local, search: Search, timetable: Timetable) -> None:
        """Write the certificate, its proof beside it, and the schedule."""
        if transport.rank:
            return
        self.save_schedule(timetable, search)
        missing = f"There is no certificate: {self.topology} has one processor."
        self.save_certificate(self.options.save, search, missing)

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
