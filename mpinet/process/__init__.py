"""User programs: an algorithm written as a generator function that every processor runs."""

from mpinet.machine import Machine, Outcome
from mpinet.process.actions import ROUTED
from mpinet.process.node import Node
from mpinet.process.running import run

__all__ = ["ROUTED", "Machine", "Node", "Outcome", "run"]
