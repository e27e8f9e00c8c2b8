"""Report of a port-model violation with the program lines of the processors concerned."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from mpinet.errors import ModelViolation
from mpinet.machine import Machine
from mpinet.process.mail import Letters
from mpinet.process.node import Node
from mpinet.process.telling import agreed, gathered_of
from mpinet.process.where import suspended_at

SHOWN = 8
"""Largest number of processors that a report names."""


def explain(
    machine: Machine, nodes: Sequence[Node | None], letters: Letters, refused: ModelViolation
) -> NoReturn:
    """Raise the violation with the program lines of the processors concerned (collective).

    Parameters
    ----------
    machine : Machine
        The machine.
    nodes : sequence of (Node or None)
        The hosted processors by slot.
    letters : Letters
        The messages of the rejected step.
    refused : ModelViolation
        Error of the machine. Its text names the processors that send or receive wrongly.

    Raises
    ------
    ModelViolation
        The same text on every rank.
    """
    concerned = _concerned(machine, letters, str(refused))
    lines = {}
    for node in nodes:
        if node is not None and node.id in concerned:
            doing = f"processor {node.id} {node._action.said}"
            lines[node.id] = f"  {doing}: {suspended_at(node._thread)}"
    said = gathered_of(machine.transport, lines)
    sentence = "\n".join([str(refused), *(said[node] for node in sorted(said)[:SHOWN])])
    raise ModelViolation(agreed(machine.transport, sentence)) from None


def _concerned(machine: Machine, letters: Letters, sentence: str) -> set[int]:
    """Return the processors named in the error, and the senders of messages to wrong receivers."""
    named = {int(number) for number in re.findall(r"processor (\d+)", sentence)}
    if "receives on port" not in sentence:
        return named
    to_them = np.isin(letters.targets(machine.topology), list(named))
    return named | set(letters.senders[to_them].tolist())
