"""``mpinet topologies``: the networks that can be named."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.job import Job, Watch
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.networks.catalogue import families, family_of
from mpinet.report.rows import Row
from mpinet.report.tables import fields, table

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.networks.catalogue import Family

TERMINAL = 80
"""Columns that every terminal has."""


def topologies(family: str | None = None) -> Result:
    """List the networks that can be named.

    Parameters
    ----------
    family : str, optional
        Only this one.

    Examples
    --------
    >>> import mpinet
    >>> mpinet.topologies("gmn").value[0]["example"]
    'gmn:8,256'
    """
    return perform(topologies, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Look the family up, where one is named."""
    return Topologies(families() if options.family is None else [family_of(options.family)])


class Topologies(Job):
    """The catalogue, or one family of it."""

    def __init__(self, chosen: list[Family]):
        super().__init__()
        self._chosen = chosen

    def run(self, transport: Local, watch: Watch) -> list[Family]:
        """List the families."""
        return self._chosen

    def show(self, result: list[Row]) -> str:
        """A line a family; of a single one all that there is."""
        if len(result) == 1:
            return fields(result[0], width=TERMINAL)
        columns = ("name", "parameters", "example", "paper")
        rows = [[row[name] for name in columns] for row in result]
        more = "'mpinet topologies NAME' tells a family's ranges, and where it is specified."
        return f"{table(rows, columns, width=TERMINAL)}\n\n{more}"
