"""``mpinet embed``: a guest network in a host, and a guest's program emulated on it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.cli.job import Job, Watch
from mpinet.cli.machinejob import MachineJob
from mpinet.cli.options import add_common, add_machine, topology_of, without_folders
from mpinet.errors import UsageError
from mpinet.networks.routing import Routing
from mpinet.numerals import is_whole, quoted
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.programs.embed import Embedding
    from mpinet.programs.operators.operator import Operator


IDENTITY = "identity"
"""The word for guest node x at host processor x."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """The two networks, the program, the routing."""
    parser.add_argument("guest", metavar="GUEST", help="the network that is embedded")
    parser.add_argument(
        "topology", metavar="HOST", help="the network that it runs on, as in torus:8x8"
    )
    parser.add_argument(
        "--images",
        type=images,
        metavar="U,V,..",
        help="the host processors of guest nodes 0, 1, .., or identity: node x at processor x "
        "(default: identity, but a ring along the host's Hamiltonian cycle where one is known)",
    )
    parser.add_argument(
        "--program",
        choices=("step", "ascend", "descend"),
        default="step",
        help="what is emulated: one step with a message over every guest link, both ways "
        "(default), or ASCEND or DESCEND",
    )
    parser.add_argument(
        "--operator", metavar="NAME", help="what ascend or descend computes (see: mpinet ascend)"
    )
    parser.add_argument("--routing", metavar="NAME", help="a routing of the host")
    add_machine(parser, ports="all")
    add_common(parser)


def images(text: str) -> list[int] | str:
    """Read numbers joined by commas, or a word."""
    if text == IDENTITY:
        return text
    words = text.split(",")
    if not all(map(is_whole, words)):
        raise argparse.ArgumentTypeError(f"host processors are numbers U,V,.., not {quoted(text)}")
    return [int(word) for word in words]


def prepare(options: argparse.Namespace) -> Job:
    """Check the embedding, the operator and the routing."""
    from mpinet.programs.embed import Embedding, ring_images
    from mpinet.programs.operators import open_operator
    from mpinet.programs.schedules.schedule import require_power_of_two

    guest = topology_of(argparse.Namespace(topology=options.guest))
    host, placed = topology_of(options), options.images
    if placed is None:
        placed = ring_images(guest, host)
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
    return Embed(options, embedding, embedding.host.routing(options.routing), operator)


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
        from mpinet.programs.embed import measure
        from mpinet.programs.emulate import emulate_ascend, emulate_step

        options, embedding, routing = self.options, self._embedding, self._routing
        machine = self.make_machine(transport, watch)
        measured = measure(machine, embedding, routing)
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

    def show(self, result: Row) -> str:
        """The figures, one a line."""
        return f"embed {self.options.guest} in {self.topology}\n{fields(result)}"
