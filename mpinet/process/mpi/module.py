"""The stand-in for ``mpi4py`` that scripts import."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType
from typing import Any, NoReturn

from mpinet.process.mpi.communicator import Comm, Intracomm, own, whole
from mpinet.process.mpi.real import REAL
from mpinet.process.mpi.world import World

LOCAL_CLASSES = (
    "BottomType",
    "BufferAutomaticType",
    "Datatype",
    "Errhandler",
    "Exception",
    "InPlaceType",
    "Info",
    "Pickle",
    "Status",
    "buffer",
    "memory",
)
"""Classes of the real mpi4py that touch the caller's memory only."""

LOCAL_FUNCTIONS = (
    "Add_error_class",
    "Add_error_code",
    "Add_error_string",
    "Aint_add",
    "Aint_diff",
    "Alloc_mem",
    "Compute_dims",
    "Free_mem",
    "Get_address",
    "Get_error_class",
    "Get_error_string",
    "Get_hw_resource_info",
    "Get_library_version",
    "Get_version",
    "Pcontrol",
    "get_vendor",
)
"""Functions of the real mpi4py that have no effect on others."""

CLASSES = {"Comm": Comm, "Intracomm": Intracomm}
"""Classes of our own in place of the real ones."""


class Unsupported(NotImplementedError):
    """A call that the emulated MPI does not have; names it."""


def refusing(name: str) -> Callable[..., NoReturn]:
    """A function that says what cannot be called."""

    def refuse(*arguments: Any, **named: Any) -> NoReturn:
        raise Unsupported(f"MPI.{name} is not part of the emulated MPI.")

    return refuse


def refuse_rest(cls: type[Any], real: type[Any]) -> None:
    """Let a class of our own refuse what only the real class could do."""
    for name in dir(real):
        owner = next(one for one in cls.__mro__ if name in vars(one))
        if not name.startswith("_") and owner.__module__ == REAL.__name__:
            setattr(cls, name, refusing(f"{real.__name__}.{name}"))


def stand_in() -> ModuleType:
    """The module that scripts import as ``mpi4py.MPI``, for the run under way."""
    module = ModuleType("mpi4py.MPI", REAL.__doc__)
    names = vars(module)
    for name, value in vars(REAL).items():
        if isinstance(value, type):
            names[name] = value if name in LOCAL_CLASSES else CLASSES.get(name)
        elif callable(value) and not isinstance(value, (REAL.Op, REAL.Pickle)):
            names[name] = value if name in LOCAL_FUNCTIONS else refusing(name)
        elif not name.startswith("__"):
            names[name] = value
    names["COMM_WORLD"], names["COMM_SELF"], names["COMM_NULL"] = whole(), own(), Comm()
    return module


@contextmanager
def emulated(world: World) -> Iterator[None]:
    """Within it, ``from mpi4py import MPI`` gives the emulated MPI."""
    real = sys.modules["mpi4py"]
    package = ModuleType("mpi4py", real.__doc__)
    vars(package).update(vars(real))
    package.MPI = stand_in()  # type: ignore[attr-defined]
    replaced = {name: one for name, one in sys.modules.items() if name.split(".")[0] == "mpi4py"}
    for name in replaced:
        del sys.modules[name]
    sys.modules["mpi4py"], sys.modules["mpi4py.MPI"] = package, package.MPI
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.split(".")[0] == "mpi4py"]:
            del sys.modules[name]
        sys.modules.update(replaced)
