"""What the commands of collectives share where they move many items (``--items``)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from mpinet.commands.collective import Collective
from mpinet.commands.job import Watch
from mpinet.commands.opening import port_model
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.dry import Dry
    from mpinet.machine.transport import Local
    from mpinet.programs.pipelines.collectives import PipelineResult
    from mpinet.programs.rehearsal import Rehearsal


class Pipelined(Collective):
    """A collective of many items, by the command's name.

    Parameters
    ----------
    options : Namespace
        The command's.
    network : Topology
        The machine's network.
    root : int, optional
        Of a collective that has one.

    Raises
    ------
    UsageError
        So many items cannot be moved there in this way.
    """

    def __init__(self, options: argparse.Namespace, network: Topology, root: int | None = None):
        from mpinet.programs.collective import require_processor
        from mpinet.programs.pipelines.spreading import require_spread

        super().__init__(options, network)
        if root is not None:
            require_processor(network, root)
        rooted = options.command != "gossip"
        number = options.items if rooted else options.items * network.hosts
        switches = getattr(options, "switches", None)  # of those that combine
        model = port_model(options)
        require_spread(network, model, number, rooted, options.algorithm, switches)
        self._root = root
        self._items = number

    def needs(self, ranks: int) -> int:
        """The timetable of all items."""
        from mpinet.programs import needs

        twice = self.options.command == "allreduce"
        return needs.pipeline(self.share(ranks), self._items, twice)

    def perform(self, machine: Machine) -> PipelineResult:
        """Do what the command says."""
        from mpinet.programs.pipelines import collectives

        options, root = self.options, self._root or 0
        items, algorithm, seed = options.items, options.algorithm, options.seed
        if options.command == "gossip":
            self._found = collectives.gossip_items(machine, items, algorithm, seed)
        elif options.command == "broadcast":
            self._found = collectives.broadcast_items(machine, root, items, algorithm, seed)
        elif options.command == "reduce":
            self._found = collectives.reduce_items(
                machine, root, items, options.operator, algorithm, seed, options.switches
            )
        else:
            self._found = collectives.allreduce_items(
                machine, items, options.operator, algorithm, seed, options.switches
            )
        return self._found

    def run(self, transport: Local, watch: Watch) -> Row:
        """Tell the items, and how fast they could flow, too."""
        result, found = super().run(transport, watch), self._found
        first: Row = {"items": found.items}
        if self.options.command == "broadcast":
            result["informed"] = found.informed
        if found.value is not None:
            first |= {"operator": self.options.operator, "value": found.value}
        rate = found.rate
        bandwidth = None if rate is None else [rate.numerator, rate.denominator]
        return first | result | {"bandwidth": bandwidth}

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Say why not."""
        raise UsageError("--items does not apply: predict plays one rank with one item.")

    def show(self, result: Any) -> str:
        """The counts; the rate in words."""
        told = {name: value for name, value in result.items() if name != "bandwidth"}
        if result["bandwidth"] is not None:
            items, steps = result["bandwidth"]
            each = " of each processor" if self.options.command == "gossip" else ""
            told["bandwidth"] = (
                f"at most {items} item{'s' * (items > 1)}{each} in {steps} step{'s' * (steps > 1)}"
            )
        return super().show(told)
