"""``mpinet launch``: run an mpinet command on several ranks of this installation's MPI library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import REST, Options, Typed

USAGE = """-n R [--hostfile FILE] [--host LIST] [--mpirun PATH] [--watchdog S] [--no-proof] \
[LAUNCHER-OPTION .. --] COMMAND .."""


@dataclass(frozen=True)
class LaunchOptions(Options):
    """Run a command on several ranks, with the MPI launcher of this installation.

    All words go to the launch script, which reads its own options, including ``-h``. The script
    replaces this process, and ends with the command's exit status. ``--slurm`` prints a batch
    script.

    Returns
    -------
    int
        the command's own document.

    Examples
    --------
    ``mpinet launch -n 4 broadcast torus:8x8x8``

    ``mpinet launch --slurm --nodes 2 --tasks 8 flood torus:32x32x32``
    """

    command = "launch"
    words: Annotated[Sequence[str], Typed(many=REST)]


launch = function_with(LaunchOptions, int, usage=USAGE)
