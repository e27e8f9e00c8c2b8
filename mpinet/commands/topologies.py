"""``mpinet topologies``: the networks that can be named."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from mpinet.commands.job import Job, Watch
from mpinet.commands.perform import perform
from mpinet.commands.result import Result
from mpinet.networks.catalogue import families
from mpinet.report.rows import Row
from mpinet.report.tables import table

if TYPE_CHECKING:
    from mpinet.machine.transport import Local
    from mpinet.networks.catalogue import Family


def topologies() -> Result:
    """List the networks that can be named."""
    return perform(topologies, locals())


def prepare(options: argparse.Namespace) -> Job:
    """Nothing can be wrong."""
    return Topologies()


class Topologies(Job):
    """The catalogue."""

    def run(self, transport: Local, watch: Watch) -> list[Family]:
        """List the families."""
        return list(families())

    def show(self, result: list[Row]) -> str:
        """A line a family."""
        columns = ("name", "parameters", "range", "example", "paper", "specification")
        return table([[row[name] for name in columns] for row in result], columns)
