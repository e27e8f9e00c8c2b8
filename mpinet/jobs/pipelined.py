"""Job that the commands of collectives share where they move many items (``--items``)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from mpinet.commands.options import ItemOptions, ManyOptions, ReductionOptions
from mpinet.errors import UsageError
from mpinet.jobs.collective import Collective, Work
from mpinet.jobs.opening import port_model
from mpinet.networks.topology import Topology
from mpinet.programs.kinds import Behavior
from mpinet.programs.pipelines.switching import COPY, behavior
from mpinet.report.rows import Row

if TYPE_CHECKING:
    from mpinet.commands.collectives import ExchangeOptions
    from mpinet.machine import Machine
    from mpinet.machine.dry import Dry
    from mpinet.machine.model import PortModel
    from mpinet.programs.collective import CollectiveResult
    from mpinet.programs.rehearsal import Rehearsal


def require_farthest(options: ExchangeOptions, network: Topology, model: PortModel) -> None:
    """Raise `UsageError` unless many items can be exchanged as the options say."""
    from mpinet.programs.exchange import FARTHEST
    from mpinet.programs.pipelines.collectives import require_exchange

    if options.routing is not None or options.algorithm not in (None, FARTHEST):
        raise UsageError(f"A total exchange of many items goes by {FARTHEST!r}, without --routing.")
    require_exchange(network, model, options.items)


def _switches(options: ManyOptions) -> Behavior:
    """Return the work of the switches."""
    return options.switches if isinstance(options, ItemOptions) else COPY


class Pipelined(Collective):
    """Collective of many items, by the command's name.

    Parameters
    ----------
    options : ItemOptions
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

    options: ManyOptions

    def __init__(
        self,
        options: ManyOptions,
        network: Topology,
        root: int | None = None,
    ):
        from mpinet.programs import needs
        from mpinet.programs.collective import require_processor
        from mpinet.programs.kinds import OF_EACH
        from mpinet.programs.pipelines.spreading import DIMENSIONS, require_spread

        if root is not None:
            require_processor(network, root)
        self._root = root
        rooted, twice = options.command not in OF_EACH, options.command == "allreduce"
        number = options.items if rooted else options.items * network.hosts
        model = port_model(options.ports, options.duplex)
        if options.command == "exchange":
            require_farthest(cast("ExchangeOptions", options), network, model)
        else:
            switches = behavior(options.command, _switches(options))
            require_spread(network, model, number, rooted, options.algorithm, switches, twice)
        exchange = twice and options.algorithm in (None, DIMENSIONS)
        along = model if exchange and (number == 1 or options.algorithm) else None
        work = Work(
            self._moved,
            lambda share: needs.pipeline(share, number, twice, along),
        )
        super().__init__(options, network, work)

    def _moved(self, machine: Machine) -> CollectiveResult:
        """Move the items (collective)."""
        from mpinet.programs.pipelines.collectives import move_items

        options = self.options
        return move_items(
            machine,
            options.command,
            options.items,
            self._root,
            options.operator if isinstance(options, ReductionOptions) else "min",
            options.algorithm,
            options.seed,
            _switches(options),
        )

    def _told(self, found: CollectiveResult) -> Row:
        """Return the fields of the result, with the items and how fast they could flow."""
        result = super()._told(found)
        if self.options.command == "broadcast":
            result["informed"] = found.informed
        rate = found.rate
        bandwidth = None if rate is None else [rate.numerator, rate.denominator]
        return {"items": found.items} | result | {"bandwidth": bandwidth}

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Refuse: a pipeline's plan needs the whole network."""
        raise UsageError("--items does not apply: predict plays one rank with one item.")

    def show(self, result: Any) -> str:
        """Format the counts, the rate in words."""
        from mpinet.programs.kinds import OF_EACH

        told = {name: value for name, value in result.items() if name != "bandwidth"}
        if result["bandwidth"] is not None:
            items, steps = result["bandwidth"]
            each = " of each processor" if self.options.command in OF_EACH else ""
            told["bandwidth"] = (
                f"at most {items} item{'s' * (items > 1)}{each} in {steps} step{'s' * (steps > 1)}"
            )
        return super().show(told)
