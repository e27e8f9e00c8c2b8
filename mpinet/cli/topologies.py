"""``mpinet topologies``: the networks that can be named."""

from __future__ import annotations

import argparse

from mpinet.cli.options import add_common
from mpinet.commands.topologies import prepare as prepare


def add_options(parser: argparse.ArgumentParser) -> None:
    """No options of its own."""
    add_common(parser)
