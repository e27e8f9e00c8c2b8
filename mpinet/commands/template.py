"""``mpinet template``: print a batch script or a host list as a starting point."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from pathlib import Path
from typing import Annotated

from mpinet.commands.functions import function_with
from mpinet.commands.optionrecords import Options, Typed
from mpinet.launching.templates import TEMPLATES


@dataclass(frozen=True)
class TemplateOptions(Options):
    """Print a batch script or a host list as a starting point.

    Returns
    -------
    int
        no document: the file.

    Examples
    --------
    ``mpinet template slurm``

    ``mpinet template openmpi-hosts``
    """

    command = "template"
    name: Annotated[str, Typed(choices=(*TEMPLATES,))]
    """Template to print."""
    _: KW_ONLY
    output: Annotated[Path | None, Typed(words=("-o",), metavar="FILE")] = None
    """New file for the template, instead of standard output."""


template = function_with(TemplateOptions, int)
