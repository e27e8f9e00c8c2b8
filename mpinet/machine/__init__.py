"""Execution and hosting: the machine, its step, its router, and its counters."""

from mpinet.machine.machine import Machine, Spent
from mpinet.machine.model import PortModel
from mpinet.machine.outcome import Outcome
from mpinet.machine.stepping import Inbox

__all__ = ["Inbox", "Machine", "Outcome", "PortModel", "Spent"]
