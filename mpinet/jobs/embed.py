"""``mpinet embed``: embed a guest network in a host, and emulate a program of the guest."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from types import SimpleNamespace

from mpinet.base.numerals import quoted
from mpinet.commands.embed import IDENTITY, EmbedOptions, EmbedResult
from mpinet.commands.fields import picked
from mpinet.commands.job import Job, Watch
from mpinet.commands.network import without_folders
from mpinet.errors import UsageError
from mpinet.jobs.machinejob import MachineJob
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.machine.transport import Local
from mpinet.networks.routing import Routing
from mpinet.programs.embed import Embedding, Measures, measure, ring_images
from mpinet.programs.operators.operator import Operator
from mpinet.report.rows import Row
from mpinet.report.tables import fields


def prepare(options: EmbedOptions) -> Job:
    """Check the embedding, the operator and the routing, and return the job."""
    from mpinet.programs.operators import open_operator
    from mpinet.programs.schedules.schedule import require_power_of_two

    guest = topology_named(options.guest)
    host, placed = topology_named(options.topology), options.images
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
    routing = routing_of(embedding.host, options.routing)
    return Embed(options, embedding.host, embedding, routing, operator)


@dataclass(eq=False, repr=False)
class Embed(MachineJob):
    """An embedding to measure, with a program to emulate."""

    options: EmbedOptions

    _embedding: Embedding
    _routing: Routing
    _operator: Operator | None

    def run(self, transport: Local, watch: Watch) -> Row:
        """Measure the embedding, then emulate the program."""
        from mpinet.machine.state import State
        from mpinet.programs.emulate import emulate_ascend, emulate_step

        options, embedding, routing = self.options, self._embedding, self._routing
        if options.images is None:  # finding a ring takes as long as a run
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
        names = {
            "guest": without_folders(embedding.guest.name),
            "host": without_folders(embedding.host.name),
            "routing": routing.name,
            "operator": self._operator.name if self._operator else None,
        }
        return picked(EmbedResult, SimpleNamespace(**names), measured, found)

    def needs(self, ranks: int) -> int:
        """Return the bytes of memory on the fullest rank for the emulated program.

        A program with an operator keeps its states. The program ``step`` keeps a message per
        link of the guest.
        """
        from mpinet.programs import needs

        return needs.embed(self.share(ranks), self._embedding.guest, self._operator)

    def show(self, result: Row) -> str:
        """Format the measures, one per line."""
        return f"embed {self._embedding.guest.name} in {self.topology}\n{fields(result)}"
