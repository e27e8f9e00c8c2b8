"""``mpinet resume``: continue a run from a checkpoint."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Resumed, Typed
from mpinet.commands.options import Force, Hosted, MemoryLimit
from mpinet.commands.result import Result


@dataclass(frozen=True)
class ResumeOptions(Options):
    """Continue a run from its checkpoint.

    Returns
    -------
    Result
        the document of the resumed command.

    Examples
    --------
    ``mpinet resume saved``

    ``mpinet launch -n 4 resume saved``
    """

    command = "resume"
    folder: Annotated[Path, Typed(metavar="FOLDER")]
    """Folder of the checkpoint. The command continues with its original options, in its original
    folder, on any number of ranks."""
    _: KW_ONLY
    mapping: Hosted | None = None
    memory_limit: MemoryLimit = None
    force: Force | None = None


resume = function_with(ResumeOptions, Result, Resumed)
