"""``mpinet template``: print batch scripts and host lists to begin with."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from mpinet.base.files import require_writable, write_text
from mpinet.commands.signature import Typed, command
from mpinet.errors import UsageError
from mpinet.launching.templates import TEMPLATES
from mpinet.launching.templates import template as template_text
from mpinet.report.output import Output


@command(here=True)
def template(
    name: Annotated[str, Typed(choices=(*TEMPLATES,))],
    *,
    output: Annotated[Path | None, Typed(words=("-o",), metavar="FILE")] = None,
) -> int:
    """Print a batch script or a list of hosts to begin with.

    Parameters
    ----------
    name : str
        Template to print.
    output : path, optional
        New file to write instead of printing.

    Returns
    -------
    int
        no document: the file.

    Examples
    --------
    ``mpinet template slurm``

    ``mpinet template openmpi-hosts``
    """
    text = template_text(name)
    if output is None:
        Output(sys.stdout, "the standard output").write(text)
        return 0
    require_writable(output)
    if output.exists():  # it may hold somebody's work
        raise UsageError(f"{output} is there already: name a new file, or move it away.")
    write_text(output, text)
    return 0
