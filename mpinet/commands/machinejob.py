"""What the commands that run a machine share: how the machine is made, and what is noted of it."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.job import Job, Watch
from mpinet.commands.options import mapping_of, port_model
from mpinet.networks.topology import Topology

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.trace import Trace
    from mpinet.machine.transport import Local


class MachineJob(Job):
    """A job on a machine of one network.

    Parameters
    ----------
    options : Namespace
        What was typed.
    network : Topology
        The machine's network.
    """

    def __init__(self, options: argparse.Namespace, network: Topology):
        super().__init__()
        self.topology = network.name
        self.options = options
        self.network = network

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
            As for `Machine`.
        """
        from mpinet.machine import Machine

        mapping = mapping_of(self.options, self.network, transport)
        model = port_model(self.options)
        machine = Machine(self.network, model, transport, mapping, loads, trace, watch)
        self.model = machine.model.as_json()
        return machine
