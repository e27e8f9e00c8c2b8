"""``mpinet topologies``: the networks that can be named."""

from __future__ import annotations

import argparse
from typing import Any

from mpinet.cli.job import Job
from mpinet.cli.options import add_common
from mpinet.networks.catalogue import families
from mpinet.report.tables import table


def add_options(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""
    add_common(parser)


def prepare(options: argparse.Namespace) -> Job:
    """Nothing can be wrong."""
    return Topologies()


class Topologies(Job):
    """The catalogue."""

    def run(self, transport: Any, watch: Any) -> Any:
        """List the families."""
        return list(families())

    def show(self, result: Any) -> str:
        """A line a family."""
        columns = ("name", "parameters", "range", "example", "paper", "specification")
        return table([[row[name] for name in columns] for row in result], columns)
