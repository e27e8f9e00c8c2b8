"""Base of all jobs with a machine: make the machine, and record its traffic."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mpinet.base.hashseed import RUN_USERS_CODE, hash_seed
from mpinet.commands.job import Job, Watch
from mpinet.commands.optionrecords import values_of
from mpinet.commands.options import MachineOptions
from mpinet.errors import UsageError
from mpinet.jobs.opening import port_model
from mpinet.jobs.recorded import Recorded
from mpinet.machine import Machine
from mpinet.machine.trace import Trace
from mpinet.machine.transport import Local
from mpinet.networks.topology import Topology
from mpinet.programs.needs import LargestShare

TO_ONE = ("flood", "broadcast", "scatter", "gather", "reduce", "allreduce", "ascend", "descend")
"""Commands in which all processors, except at most one, send or receive a message."""

MOST_UNEVEN = 2**12
"""Largest number of ranks for a computation of the longest block; with more ranks, blocks count as
even."""

TO_ALL = ("gossip", "exchange", "reducescatter")
"""Commands with a message from every processor to every processor."""


DRAWN = (
    "Python uses a random hash seed, so the order of sets may differ between runs and "
    "ranks: start Python with PYTHONHASHSEED=0."
)


def refuse_checkpoint(folder: Path | None, what: str) -> None:
    """Raise `UsageError` if a command without checkpoints is asked for one."""
    if folder is not None:
        raise UsageError(f"--checkpoint: the state of {what} lies in Python and cannot be saved.")


@dataclass(eq=False, repr=False)
class MachineJob(Job):
    """A job on a machine of one network.

    Parameters
    ----------
    options : MachineOptions
        Options of the command; a subclass narrows the type by the annotation of `options`.
    network : Topology
        The machine's network.

    Raises
    ------
    UsageError
        The run cannot be recorded as requested.
    """

    options: MachineOptions

    network: Topology

    def __post_init__(self) -> None:
        self.topology = self.network.name
        self._recorded = Recorded(self.options, self.network)

    def share(self, ranks: int) -> LargestShare:
        """Return the largest part of the network on one rank of `ranks` ranks.

        The part gives the number of nodes on this rank. Estimates of memory use it.
        """
        from mpinet.machine.placement import Placement, clustered

        # Blocks of whole clusters differ in length. Memory is checked for the longest block, and
        # finding the longest takes all blocks.
        if self.options.mapping in ("clusters", "measured") and 1 < ranks <= MOST_UNEVEN:
            most = Placement(clustered(self.network), 0, ranks).most
            return LargestShare(self.network, ranks, most)
        scattered = self.options.mapping == "random" and ranks > 1
        return LargestShare(self.network, ranks, -(-self.network.size // ranks), scattered)

    @property
    def title(self) -> str:
        """Name of the run in messages."""
        return f"{self.options.command} on {self.topology}"

    def make_machine(
        self,
        transport: Local,
        watch: Watch = lambda steps: None,
        loads: bool = False,
        trace: Trace | None = None,
    ) -> Machine:
        """Make the machine from the options, and store its port model (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        watch, loads, trace
            As for `Machine`; a recorded run always has a trace.
        """
        from mpinet.machine.choice import open_mapping

        mapping = open_mapping(self.options.mapping, self.network, transport, self.options.seed)
        model = port_model(self.options.ports, self.options.duplex)
        trace = self._recorded.begin(trace, self.least_moves)
        machine = self._made = Machine(self.network, model, transport, mapping, loads, trace, watch)
        self.model = machine.model.as_json()
        # A user's program may iterate over sets, whose order depends on the hash seed. The document
        # contains the seed, which makes the run repeatable.
        if self.options.command in RUN_USERS_CODE:
            self.model["hash_seed"] = hash_seed()
            from_python = self.warn is warnings.warn  # a command line restarts itself
            if from_python and hash_seed() is None and transport.rank == 0:
                self.warn(DRAWN)
        return machine

    @property
    def least_moves(self) -> int:
        """Return a lower bound on the run's movements, known before the run."""
        others = self.network.hosts - 1
        if self.options.command in TO_ALL:
            return self.network.hosts * others
        return others if self.options.command in TO_ONE else 0

    def keep(self, transport: Local) -> None:
        """Write the recording, if requested (collective)."""
        self._recorded.write(transport, self._made, self.model)

    def is_soon_redone(self, result: Any) -> bool:
        """Return True if the run is small, and has no code or output files of the user."""
        # A picture repeats the run. The repetition must not write the user's files again, nor run
        # the user's code twice.
        own = {"schedule_out", "paths_out"}.isdisjoint(
            name for name, value in values_of(self.options).items() if value
        )
        few = result.get("messages", 0) <= MOST_REDONE
        small = self.network.size * self.network.ports <= MOST_REDONE
        return own and few and small and self.options.command not in ("run", "exec", "embed")


MOST_REDONE = 4096
"""Largest number of messages, and of ports, of a run that a notebook repeats for a picture."""
