"""User programs: an algorithm as a plain generator function, run by every processor."""

from mpinet.machine import Machine, Outcome
from mpinet.process.actions import ROUTED
from mpinet.process.node import Node
from mpinet.process.running import run

__all__ = ["ROUTED", "Machine", "Node", "Outcome", "run"]
