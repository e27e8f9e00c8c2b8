"""``mpinet template``: print batch scripts and host lists to begin with."""

from __future__ import annotations

import sys

from mpinet.base.files import require_writable, write_text
from mpinet.commands.template import TemplateOptions
from mpinet.errors import UsageError
from mpinet.launching.templates import template
from mpinet.report.output import Output


def act(options: TemplateOptions) -> int:
    """Do it; return the exit status."""
    text = template(options.name)
    output = options.output
    if output is None:
        Output(sys.stdout, "the standard output").write(text)
        return 0
    require_writable(output)
    if output.exists():  # it may hold somebody's work
        raise UsageError(f"{output} is there already: name a new file, or move it away.")
    write_text(output, text)
    return 0
