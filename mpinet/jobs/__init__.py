"""Jobs of the commands: the work of a command with its options.

Each module has the name of its command's module in `mpinet.commands`; all collectives share a
module. The function `prepare` checks everything without MPI, and returns a `Job`.
`mpinet.jobs.perform` runs the job and makes its `Result`. A command on this host only has a
function `act` instead, which returns the exit status.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from mpinet.commands.algorithms import COLLECTIVES
from mpinet.commands.catalogue import MODULES


def module_of(command: str) -> Any:
    """Import and return the module of a command's job."""
    name = "collectives" if command in COLLECTIVES else MODULES.get(command, command)
    return import_module(f"{__name__}.{name}")
