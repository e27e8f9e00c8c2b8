"""mpinet: an MPI-distributed emulator of message-passing machines.

The public names are in ``__init__.pyi``. Each is loaded at its first use, so ``import mpinet`` is
instant.
"""

from importlib import import_module

from mpinet.base.notebook import shown_by
from mpinet.base.rooms import attached, commanded_by
from mpinet.base.version import __version__ as __version__
from mpinet.commands.catalogue import MODULES

__getattr__, __dir__, __all__ = attached(
    __name__,
    __file__,
    {name: f"mpinet.commands.{file}" for name, file in MODULES.items() if file == "collectives"},
)

commanded_by(lambda name: import_module("mpinet.commands").function_of(name))
shown_by(lambda: import_module("mpinet.report.cards").card_of)
