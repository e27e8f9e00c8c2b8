"""``mpinet route``: route a traffic pattern."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from mpinet.base.files import require_writable
from mpinet.base.plain import plain
from mpinet.commands.job import Job, Watch
from mpinet.commands.route import RouteOptions
from mpinet.errors import UsageError
from mpinet.jobs.faults import lasting_faults
from mpinet.jobs.machinejob import MachineJob, refuse_checkpoint
from mpinet.jobs.opening import routing_of, topology_named
from mpinet.machine import Machine
from mpinet.machine.dry import Dry
from mpinet.machine.faults import Faults
from mpinet.machine.transport import Local
from mpinet.networks.routing import Routing
from mpinet.report.rows import Row
from mpinet.report.tables import fields

if TYPE_CHECKING:
    from mpinet.programs.rehearsal.rehearsal import Rehearsal
    from mpinet.programs.traffic import Traffic

LONGEST = 60
"""Longest printed pattern, in characters."""

MAX_METERED = 2**28
"""Largest machine, in ports, whose channel loads are counted by default."""


def prepare(options: RouteOptions) -> Job:
    """Make the traffic and the faults, reject options without effect, and return the job."""
    from mpinet.programs.traffic import spelled, traffic

    topology = topology_named(options.topology)
    pairs = spelled(topology, options.pairs)
    if options.paths_out is not None:
        require_writable(Path(options.paths_out))
    if options.mode == "ideal":
        _refuse(options.ports == "one", "--ports one", "in ideal mode no port model holds")
        _refuse(options.duplex == "half", "--duplex half", "in ideal mode no port model holds")
        _refuse(options.policy == "fifo", "--policy fifo", "with --mode ideal no message waits")
        _refuse(_has_protocol(options), "--arbitration", "with --mode ideal no message waits")
    if _has_protocol(options):
        _refuse(topology.links, "--arbitration", f"{topology.name} has no busses")
        refuse_checkpoint(options.line.checkpoint, "a bus protocol")
    _refuse(
        options.wants_paths and options.faults is not None,
        "--paths",
        "with --faults, messages may stop before their targets",
    )
    pattern = traffic(topology, pairs, options.seed)
    faults = lasting_faults(topology, options.faults)
    # Without a detour, all messages that meet a fault would be undeliverable.
    name = options.routing or (topology.detour if faults else None)
    routing = routing_of(topology, name, options.seed)
    job = RouteJob(replace(options, pairs=pairs), topology, routing, pattern, faults)
    # The document's command line has the completed pattern, which makes the same run everywhere.
    job.completed = job.options
    return job


def _has_protocol(options: RouteOptions) -> bool:
    """Return whether the members of a bus arbitrate by a protocol."""
    return options.arbitration != "order"


def _refuse(wrong: bool, option: str, reason: str) -> None:
    if wrong:
        raise UsageError(f"{option} does not apply: {reason}.")


@dataclass(eq=False, repr=False)
class RouteJob(MachineJob):
    """Routing of a traffic pattern over a machine."""

    options: RouteOptions

    _routing: Routing
    _traffic: Traffic
    _faults: Faults

    @property
    def _pairs(self) -> str:
        """Traffic pattern as text."""
        return str(self.options.pairs)

    def run(self, transport: Local, watch: Watch) -> Row:
        """Route the messages, and hash the paths if requested."""
        from mpinet.machine.busprotocol import PROTOCOLS
        from mpinet.programs.route import route
        from mpinet.report.hashes import dealt_lines, hash_into, path_lines

        options = self.options
        machine = self._machine(transport, watch)
        protocol = None
        if _has_protocol(options):
            protocol = PROTOCOLS[options.arbitration](machine, options.seed)
            self.model["arbitration"] = options.arbitration
        settings = options.mode, options.policy, self._faults, protocol
        found = route(machine, self._traffic, self._routing, *settings)
        self.note_crossing(machine)
        result: Row = plain(found) | {"routing": self._routing.name}
        if options.wants_paths:
            lines = path_lines(self.network, self._routing, self._traffic.ends)
            dealt = dealt_lines(transport, self._traffic.total, lines)
            result["paths_sha256"] = hash_into(dealt, options.paths_out, transport)
        return result

    @property
    def least_moves(self) -> int:
        """Return the number of messages to remote processors, each with at least one movement."""
        return self._traffic.total

    def rehearse(self, dry: Dry) -> Rehearsal:
        """Run a single rank on one process, for ``mpinet predict``."""
        from mpinet.programs.rehearsal.route import rehearse_route

        options = self.options
        _refuse(options.wants_paths, "--paths", "one rank knows only parts of the paths")
        _refuse(options.faults is not None, "--faults", "predict supports no faults")
        _refuse(_has_protocol(options), "--arbitration", "predict supports no protocols")
        machine = self._machine(dry)
        return rehearse_route(
            machine, dry, self._traffic, self._routing, options.mode, options.policy
        )

    def _machine(self, transport: Local, watch: Watch = lambda steps: None) -> Machine:
        """Return the machine, which counts channel loads on request, or by default if small."""
        options = self.options
        machine = self.make_machine(transport, watch, self._metered)
        self.model |= {"mode": options.mode, "policy": options.policy}
        return machine

    @property
    def _metered(self) -> bool:
        """True if the machine counts channel loads."""
        if self.options.loads is not None:
            return bool(self.options.loads)
        return self.network.size * self.network.ports <= MAX_METERED

    def needs(self, ranks: int) -> int:
        """Return the bytes of the messages, and of the data per port."""
        from mpinet.programs import needs
        from mpinet.programs.traffic import is_listed

        words = self._routing.words
        drawn = self._pairs.startswith("random:") or is_listed(self._pairs)
        return needs.route(self.share(ranks), self._traffic.total, words, drawn, self._metered)

    def show(self, result: Row) -> str:
        """Format the counts."""
        shown = self._pairs if len(self._pairs) <= LONGEST else "listed"
        return f"{shown} traffic on {self.topology}\n{fields(result)}"
