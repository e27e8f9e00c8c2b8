"""Measures of a network: its wiring, distances, symmetry, cuts, cycles, routes and loads.

Every measure takes a topology or a topology string. If possible, a measure runs on the
machine: distances by flooding, routes by routing. No measure uses a family's formula. Measures are
collective over the machine's ranks: all ranks call a measure together and get the same result.
Within `mpinet.machine.transport.alone` this process is a single rank.

The public names are in ``__init__.pyi``. Each is loaded at its first use.
"""

from mpinet.base.rooms import attached, called

__getattr__, __dir__, __all__ = attached(__name__, __file__)

called(__name__)
