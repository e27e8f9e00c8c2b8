"""State of shared packages that every processor has for itself, because each process has its own.

A package is adapted when a processor loads it, or at the begin of a run if it is loaded already.
"""

from __future__ import annotations

import sys
from collections import OrderedDict
from typing import Any

from mpinet.mpi.world.calls import running
from mpinet.mpi.world.loading import ADAPTED
from mpinet.mpi.world.process_state import GENERATORS, Generator, ProcessState

MAPPING = "__contains__ __delitem__ __getitem__ __iter__ __len__ __reversed__ __setitem__".split()


class OwnDict:
    """A dictionary of which each processor has its own.

    Parameters
    ----------
    shared : OrderedDict
        The dictionary outside of scripts.
    """

    def __init__(self, shared: Any):
        self._shared = shared

    def _own(self) -> Any:
        here = running.turns.current
        if here.main is None:
            return self._shared
        return here.storage().setdefault(id(self), OrderedDict())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own(), name)


for _name in MAPPING:
    # Operators look for their methods in the class.
    def _method(self: Any, *given: Any, _name: str = _name) -> Any:
        return getattr(self._own(), _name)(*given)

    setattr(OwnDict, _name, _method)


def _own_figures(helpers: Any) -> None:
    """Give each processor its own figures of pyplot, and its own current figure."""
    if type(helpers.Gcf.figs) is not OwnDict:
        helpers.Gcf.figs = OwnDict(helpers.Gcf.figs)


def _own_generator(torch: Any) -> None:
    """Give each processor that seeds torch random numbers of its own."""
    if "torch" in GENERATORS:
        return
    GENERATORS["torch"] = Generator(torch, torch.get_rng_state, torch.set_rng_state)
    seed = torch.manual_seed

    def manual_seed(*given: Any, **named: Any) -> Any:
        here = running.turns.current
        if here.main is not None:
            here.own = here.own or ProcessState()
            here.own.states.setdefault("torch", None)
        return seed(*given, **named)

    torch.manual_seed = manual_seed


OWN = {"matplotlib._pylab_helpers": _own_figures, "torch": _own_generator}
"""Functions that adapt a package, once in a process."""

ADAPTED.update(OWN)


def adapt_loaded() -> None:
    """Adapt the packages that are loaded already."""
    for name in OWN.keys() & sys.modules.keys():
        OWN[name](sys.modules[name])
