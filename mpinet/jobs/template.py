"""``mpinet template``: print a batch script or a host list as a starting point."""

from __future__ import annotations

import sys

from mpinet.base.files import require_writable, write_text
from mpinet.commands.template import TemplateOptions
from mpinet.errors import UsageError
from mpinet.launching.templates import template
from mpinet.report.output import Output


def act(options: TemplateOptions) -> int:
    """Print the template, or write it to a file; return the exit status."""
    text = template(options.name)
    output = options.output
    if output is None:
        Output(sys.stdout, "the standard output").write(text)
        return 0
    require_writable(output)
    if output.exists():  # it may be the user's work
        raise UsageError(f"{output} already exists: name a new file, or move the old one away.")
    write_text(output, text)
    return 0
