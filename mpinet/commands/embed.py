"""``mpinet embed``: a guest network in a host, and a guest's program emulated on it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Literal

from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.options import (
    Bytes,
    Duplex,
    File,
    Hosted,
    Network,
    Ports,
    routing_of,
    topology_of,
    without_folders,
)
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.errors import UsageError
from mpinet.networks.routing import Routing
from mpinet.numerals import quoted
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.programs.embed import Embedding
    from mpinet.programs.operators.operator import Operator


IDENTITY = "identity"


"""The word for guest node x at host processor x."""


def embed(
    guest: Network,
    topology: Network,
    *,
    images: Sequence[int] | str | None = None,
    program: Literal["step", "ascend", "descend"] = "step",
    operator: str | None = None,
    routing: str | None = None,
    ports: Ports = "all",
    duplex: Duplex = "full",
    mapping: Hosted = "blocks",
    record: File | None = None,
    record_steps: str | None = None,
    record_nodes: str | None = None,
    memory_limit: Bytes | None = None,
    force: bool = False,
    seed: int = 0,
) -> Result:
    """Embed a network in another, and emulate a program of it (collective).

    Parameters
    ----------
    topology : str or Topology
        The network.
    guest : str or Topology
        The network that is embedded.
    topology : str or Topology
        The host.
    images : sequence of int or 'identity', optional
        The host processors of guest nodes 0, 1, ..; default: identity, but a ring along the host's
        Hamiltonian cycle where one is known.
    program : {'step', 'ascend', 'descend'}
        What is emulated.
    operator : str, optional
        What ``ascend`` or ``descend`` computes.
    routing : str, optional
        A routing of the host.
    ports : {'one', 'all'}
        Ports that a processor uses in a step.
    duplex : {'full', 'half'}
        Messages that a link carries in a step: one each way, or one.
    mapping : {'blocks', 'clusters', 'measured', 'random'}
        How ranks host processors; changes no result.
    record, record_steps, record_nodes : str, optional
        The file that gets what moved in which step; the steps ``A..B`` and the nodes ``0..15,20``
        that it is limited to.
    memory_limit : int or str, optional
        Bytes that the ranks of a host may take together, such as ``"4GiB"``.
    force : bool
        Whether to try what does not fit into the memory there is.
    seed : int
        For everything random.

    Examples
    --------
    >>> import mpinet
    >>> mpinet.embed("ring:16", "hypercube:4").dilation
    1
    """
    return perform(embed, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Check the embedding, the operator and the routing."""
    from mpinet.programs.embed import Embedding
    from mpinet.programs.operators import open_operator
    from mpinet.programs.schedules.schedule import require_power_of_two

    guest = topology_of(argparse.Namespace(topology=options.guest))
    host, placed = topology_of(options), options.images
    if isinstance(placed, str) and placed != IDENTITY:
        raise UsageError(f"--images: give host processors or {IDENTITY}, not {quoted(placed)}.")
    embedding = Embedding(guest, host, None if isinstance(placed, str) else placed)
    operator = None
    if options.program == "step":
        if options.operator is not None:
            raise UsageError("--operator does not apply to --program step.")
    elif options.operator is None:
        raise UsageError(f"--program {options.program} needs an --operator, such as sum.")
    else:
        operator = open_operator(options.operator)
        operator.require_form(options.program)
        require_power_of_two(guest)
    return Embed(options, embedding, routing_of(embedding.host, options.routing), operator)


class Embed(MachineJob):
    """An embedding measured, and a program emulated."""

    def __init__(
        self,
        options: argparse.Namespace,
        embedding: Embedding,
        routing: Routing,
        operator: Operator | None,
    ):
        super().__init__(options, embedding.host)
        self._embedding = embedding
        self._routing = routing
        self._operator = operator

    def run(self, transport: Local, watch: Watch) -> Row:
        """Measure, then emulate."""
        from mpinet.machine.state import State
        from mpinet.programs.embed import Embedding, Measures, measure, ring_images
        from mpinet.programs.emulate import emulate_ascend, emulate_step

        options, embedding, routing = self.options, self._embedding, self._routing
        if options.images is None:  # where a ring stands takes as long as a run
            placed = ring_images(embedding.guest, embedding.host)
            embedding = Embedding(embedding.guest, embedding.host, placed)
        machine = self.make_machine(transport, watch)
        with State(machine, "embed") as state:
            measured = Measures(
                **state.once("measures", lambda: asdict(measure(machine, embedding, routing)))
            )
            if self._operator is None:
                found = emulate_step(machine, embedding, routing, options.seed)
            else:
                found = emulate_ascend(
                    machine, embedding, self._operator, options.program, routing, options.seed
                )
        return {
            "guest": without_folders(embedding.guest.name),
            "host": without_folders(embedding.host.name),
            "routing": routing.name,
            "dilation": measured.dilation,
            "route_length": measured.route_length,
            "congestion": measured.congestion,
            "expansion": measured.expansion,
            "program": found.program,
            "operator": self._operator.name if self._operator else None,
            "guest_steps": found.guest_steps,
            "host_steps": found.host_steps,
            "slowdown": found.slowdown,
            "correct": found.correct,
        }

    def needs(self, ranks: int) -> int:
        """The guest's messages, or the states of its program."""
        from mpinet.programs import needs

        return needs.embed(self.share(ranks), self._embedding.guest, self._operator)

    def show(self, result: Row) -> str:
        """The figures, one a line."""
        return f"embed {self._embedding.guest.name} in {self.topology}\n{fields(result)}"
