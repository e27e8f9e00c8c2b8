"""``mpinet embed``: a guest network in a host, and a guest's program emulated on it."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Literal

from mpinet.base.numerals import is_whole, quoted
from mpinet.commands.fields import Count
from mpinet.commands.job import Job, Watch
from mpinet.commands.machinejob import MachineJob
from mpinet.commands.opening import Network, routing_of, topology_of, without_folders
from mpinet.commands.options import Common, OnMachine, Ports, RoutingName, SavedOften, Views
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.commands.signature import Typed, Unpack, command
from mpinet.errors import UsageError
from mpinet.networks.routing import Routing
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.programs.embed import Embedding
    from mpinet.programs.operators.operator import Operator


IDENTITY = "identity"


"""Word for the embedding of guest node x at host processor x."""


def images_of(text: str) -> list[int] | str:
    """Read numbers joined by commas, or a word."""
    if text == IDENTITY:
        return text
    words = text.split(",")
    if not all(map(is_whole, words)):
        raise ValueError(f"host processors are numbers U,V,.., not {quoted(text)}")
    return [int(word) for word in words]


class EmbedResult(Result):
    """Result of ``embed``."""

    guest: str
    host: str
    routing: str
    dilation: Count
    route_length: Count
    congestion: Count
    expansion: float
    program: str
    operator: str | None
    guest_steps: Count
    host_steps: Count
    slowdown: float | None
    correct: bool


@command(Views, SavedOften, Common)
def embed(
    guest: Annotated[Network, Typed(metavar="GUEST")],
    topology: Annotated[Network, Typed(metavar="HOST")],
    *,
    images: Annotated[Sequence[int] | str | None, Typed(metavar="U,V,..", read=images_of)] = None,
    program: Literal["step", "ascend", "descend"] = "step",
    operator: str | None = None,
    routing: RoutingName = None,
    ports: Ports = "all",
    **options: Unpack[OnMachine],
) -> EmbedResult:
    """Embed a network in another, and emulate a program of it (collective).

    Parameters
    ----------
    guest : str or Topology
        Network that is embedded.
    topology : str or Topology
        Network that the guest runs on, such as ``torus:8x8``.
    images : sequence of int or 'identity', optional
        Host processors of guest nodes 0, 1, .., or ``identity``: node x at processor x; default:
        identity, but a ring along the host's Hamiltonian cycle where one is known.
    program : {'step', 'ascend', 'descend'}
        Program that is emulated: one step with a message over every guest link, both ways, or
        ASCEND or DESCEND.
    operator : str, optional
        Operator that ``ascend`` or ``descend`` computes.
    routing : str, optional
        Routing of the host.

    Examples
    --------
    ``mpinet embed ring:16 hypercube:4``

    ``mpinet embed torus:4x4 hypercube:4``

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
        """Bytes of the guest's messages, or of the states of its program."""
        from mpinet.programs import needs

        return needs.embed(self.share(ranks), self._embedding.guest, self._operator)

    def show(self, result: Row) -> str:
        """Format the figures, one per line."""
        return f"embed {self._embedding.guest.name} in {self.topology}\n{fields(result)}"
