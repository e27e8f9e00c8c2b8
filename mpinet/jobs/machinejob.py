"""The job that all commands with a machine share: making the machine, and noting its traffic."""

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
"""Commands in which every processor but one sends or receives a message at least."""

MOST_UNEVEN = 2**12
"""Ranks up to which blocks of clusters are looked at for the longest; of more they are even."""

TO_ALL = ("gossip", "exchange", "reducescatter")
"""Commands in which every processor receives one from every other."""


DRAWN = (
    "Python has drawn a seed for the hashes of strings, so what iterates over sets may differ from "
    "run to run and from rank to rank: start Python with PYTHONHASHSEED=0."
)


def refuse_checkpoint(folder: Path | None, what: str) -> None:
    """Raise `UsageError` if checkpoints are asked of a command that has none."""
    if folder is not None:
        raise UsageError(f"--checkpoint: {what} cannot be saved, as Python keeps its state.")


@dataclass(eq=False, repr=False)
class MachineJob(Job):
    """A job on a machine of one network.

    Parameters
    ----------
    options : MachineOptions
        Options of the command; a job names their class in the annotation of its `options`.
    network : Topology
        The machine's network.

    Raises
    ------
    UsageError
        The run cannot be recorded as was asked for.
    """

    options: MachineOptions

    network: Topology

    def __post_init__(self) -> None:
        self.topology = self.network.name
        self._recorded = Recorded(self.options, self.network)

    def share(self, ranks: int) -> LargestShare:
        """Share of the network on the fullest of `ranks` ranks."""
        from mpinet.machine.placement import Placement, clustered

        # Blocks that end at clusters differ in length. Memory is checked on the fullest rank, and
        # finding its length takes all blocks.
        if self.options.mapping in ("clusters", "measured") and 1 < ranks <= MOST_UNEVEN:
            most = Placement(clustered(self.network), 0, ranks).most
            return LargestShare(self.network, ranks, most)
        scattered = self.options.mapping == "random" and ranks > 1
        return LargestShare(self.network, ranks, -(-self.network.size // ranks), scattered)

    @property
    def title(self) -> str:
        """Name of the run in sentences."""
        return f"{self.options.command} on {self.topology}"

    def make_machine(
        self,
        transport: Local,
        watch: Watch = lambda steps: None,
        loads: bool = False,
        trace: Trace | None = None,
    ) -> Machine:
        """Make the machine that was asked for, and note its port model (collective).

        Parameters
        ----------
        transport : Local
            The ranks.
        watch, loads, trace
            As for `Machine`; where the run is recorded, it has a trace in any case.
        """
        from mpinet.machine.choice import open_mapping

        mapping = open_mapping(self.options.mapping, self.network, transport, self.options.seed)
        model = port_model(self.options.ports, self.options.duplex)
        trace = self._recorded.begin(trace, self.least_moves)
        machine = self._made = Machine(self.network, model, transport, mapping, loads, trace, watch)
        self.model = machine.model.as_json()
        # A user's program may iterate over sets, whose order depends on the seed of hashes. The
        # document has this seed, so that a run can be repeated.
        if self.options.command in RUN_USERS_CODE:
            self.model["hash_seed"] = hash_seed()
            from_python = self.warn is warnings.warn  # what is typed starts again
            if from_python and hash_seed() is None and transport.rank == 0:
                self.warn(DRAWN)
        return machine

    @property
    def least_moves(self) -> int:
        """Least movements of the run, as far as they are known before it."""
        others = self.network.hosts - 1
        if self.options.command in TO_ALL:
            return self.network.hosts * others
        return others if self.options.command in TO_ONE else 0

    def keep(self, transport: Local) -> None:
        """Write the recording, if one is wanted (collective)."""
        self._recorded.write(transport, self._made, self.model)

    def is_soon_redone(self, result: Any) -> bool:
        """Return whether the network and the messages are few, and nothing of the user's runs."""
        # A picture makes the run again. That must not write the user's files again, nor run the
        # user's code twice.
        own = {"schedule_out", "paths_out"}.isdisjoint(
            name for name, value in values_of(self.options).items() if value
        )
        few = result.get("messages", 0) <= MOST_REDONE
        small = self.network.size * self.network.ports <= MOST_REDONE
        return own and few and small and self.options.command not in ("run", "exec", "embed")


MOST_REDONE = 4096
"""Most messages, and most ports, of a run that a notebook makes again for a picture."""
