"""The recording of a run: what of it was asked for, and its file."""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from typing import TYPE_CHECKING

import mpinet
from mpinet.commands.options import without_folders
from mpinet.errors import NodeError, UsageError
from mpinet.networks.topology import Topology
from mpinet.numerals import quoted

if TYPE_CHECKING:
    from mpinet.machine import Machine
    from mpinet.machine.trace import Limits, Trace
    from mpinet.machine.transport import Local

RANGE = re.compile(r"([0-9]{1,18})(?:\.\.([0-9]{1,18}))?")


class Recorded:
    """What of a run is to be recorded, if anything.

    Parameters
    ----------
    options : Namespace
        `record`, `record_steps` and `record_nodes`.
    network : Topology
        The machine's network.

    Raises
    ------
    UsageError
        It cannot be written there, or there are no such steps and nodes.
    """

    def __init__(self, options: argparse.Namespace, network: Topology):
        self._options = options
        self._network = network
        self._limits: Limits | None = None
        self._path: Path | None = None
        if options.record is None:
            if options.record_steps is not None or options.record_nodes is not None:
                raise UsageError("--record-steps and --record-nodes limit what --record writes.")
            return
        from mpinet.report.recordings import require_recording_file

        self._path = Path(options.record)
        require_recording_file(self._path)
        self._limits = _limits(options.record_steps, options.record_nodes, network.size)

    def begin(self, trace: Trace | None, least: int) -> Trace | None:
        """The trace that the machine gets: `trace`, if nothing is to be recorded.

        Parameters
        ----------
        trace : Trace or None
            One that the command wants itself, of all that moves.
        least : int
            Movements that the run has at least.

        Raises
        ------
        TooLarge
            The recording would have too many.
        UsageError
            Both are wanted, and the recording is limited.
        """
        from mpinet.machine.trace import MOST, Trace, too_large

        if self._limits is None:
            return trace
        if self._limits.bounded:
            if trace is not None:
                raise UsageError(
                    "--schedule is of the whole run: give it without --record-steps and "
                    "--record-nodes."
                )
            return Trace(self._limits)
        if least > MOST:
            raise too_large(least, "at least ")
        return trace or Trace()

    def write(self, transport: Local, machine: Machine | None, model: dict[str, object]) -> None:
        """Write what was recorded (collective)."""
        if self._path is None or machine is None or machine.trace is None:
            return
        from mpinet.report.recordings import write_recording

        options, network = self._options, self._network
        header = {
            "mpinet": mpinet.__version__,
            "command": options.command,
            "topology": without_folders(network.name),
            "nodes": network.size,
            "hosts": network.hosts,
            "ports": network.ports,
            "model": model,
            "seed": options.seed,
            "steps": machine.steps + machine.trace.idle,
            "recorded": {"steps": options.record_steps, "nodes": options.record_nodes},
        }
        write_recording(transport, machine.trace, self._path, header)


def _limits(steps: str | None, nodes: str | None, size: int) -> Limits:
    """Read ``A..B`` and ``0..15,20``."""
    import numpy as np

    from mpinet.machine.trace import Limits

    limits = Limits()
    if steps is not None:
        found = RANGE.fullmatch(steps)
        if found is None or found[2] is None or not 1 <= int(found[1]) <= int(found[2]):
            raise UsageError(f"--record-steps: give A..B with 1 <= A <= B, not {quoted(steps)}.")
        limits = Limits(int(found[1]), int(found[2]))
    if nodes is None:
        return limits
    parts = [RANGE.fullmatch(word) for word in nodes.split(",")]
    pairs = [(int(one[1]), int(one[2] or one[1])) for one in parts if one is not None]
    if len(pairs) < len(parts) or any(first > last for first, last in pairs):
        raise UsageError(
            f"--record-nodes: give numbers and ranges, as in 0..15,20, not {quoted(nodes)}."
        )
    highest = max(last for _, last in pairs)
    if highest >= size:
        raise NodeError(f"--record-nodes {quoted(nodes)}: there is no node {highest} of {size}.")
    chosen = np.unique(np.concatenate([np.arange(first, last + 1) for first, last in pairs]))
    return Limits(limits.first, limits.last, chosen)
