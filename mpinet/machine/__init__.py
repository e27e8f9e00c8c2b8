"""Execution and hosting: the machine, its step, its router, and what they count."""

from mpinet.machine.machine import Inbox, Machine, Spent
from mpinet.machine.model import PortModel

__all__ = ["Inbox", "Machine", "PortModel", "Spent"]
