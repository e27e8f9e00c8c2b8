"""``mpinet check``: check a network's rules against each other."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common, add_topology
from mpinet.commands.check import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """The network."""
    add_topology(parser)
    add_common(parser)
