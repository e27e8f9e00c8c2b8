"""The stand-in for ``mpi4py`` that scripts import."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

from mpinet.mpi import environment, foreign
from mpinet.mpi.collectives.operators import PREDEFINED, Op
from mpinet.mpi.communicators import errhandlers, pkl5, ports
from mpinet.mpi.communicators.communicator import Comm, Intercomm, Intracomm, own, whole
from mpinet.mpi.communicators.errhandlers import Errhandler
from mpinet.mpi.communicators.groups import GROUP_EMPTY, GROUP_NULL, Group
from mpinet.mpi.communicators.sessions import Session
from mpinet.mpi.communicators.topology_communicators import (
    Cartcomm,
    Distgraphcomm,
    Graphcomm,
    Topocomm,
)
from mpinet.mpi.files.file import File
from mpinet.mpi.futures.core import core
from mpinet.mpi.messages import bsend_buffers
from mpinet.mpi.messages.grequests import Grequest
from mpinet.mpi.messages.matched_probes import MESSAGE_NO_PROC, MESSAGE_NULL, Message
from mpinet.mpi.messages.persistent import Prequest
from mpinet.mpi.messages.requests import REQUEST_NULL, Request
from mpinet.mpi.real import REAL
from mpinet.mpi.refusals import refuse_rest, refusing
from mpinet.mpi.settings import Package
from mpinet.mpi.windows.window import Win
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.process_state import InterpreterSetting, SettingKind
from mpinet.mpi.world.settings import MODULE_VARIABLE
from mpinet.mpi.world.world import World

LOCAL_CLASSES = (
    "BottomType",
    "BufferAutomaticType",
    "Datatype",
    "Exception",
    "InPlaceType",
    "Info",
    "Pickle",
    "Status",
    "buffer",
    "memory",
)
"""Classes of the real mpi4py that only access the caller's memory."""

LOCAL_FUNCTIONS = (
    "Add_error_class",
    "Add_error_code",
    "Add_error_string",
    "Aint_add",
    "Aint_diff",
    "Alloc_mem",
    "Compute_dims",
    "Free_mem",
    "Get_abi_fortran_info",
    "Get_abi_info",
    "Get_abi_version",
    "Get_address",
    "Get_error_class",
    "Get_error_string",
    "Get_library_version",
    "Get_version",
    "Pcontrol",
    "Remove_error_class",
    "Remove_error_code",
    "Remove_error_string",
    "_datatype_create",
    "_datatype_decode",
    "_typealign",
    "_typecode",
    "get_vendor",
)
"""Functions of the real mpi4py with local effects only."""

CLASSES: dict[str, type[Any]] = {
    "Cartcomm": Cartcomm,
    "Comm": Comm,
    "Distgraphcomm": Distgraphcomm,
    "Errhandler": Errhandler,
    "File": File,
    "Graphcomm": Graphcomm,
    "Grequest": Grequest,
    "Group": Group,
    "Intercomm": Intercomm,
    "Intracomm": Intracomm,
    "Message": Message,
    "Op": Op,
    "Prequest": Prequest,
    "Request": Request,
    "Session": Session,
    "Topocomm": Topocomm,
    "Win": Win,
}
"""Emulated classes in place of the real ones."""

ROOTS = "Comm Errhandler File Group Message Op Request Session Win".split()
"""Names of classes with a C type of the same name."""


def _explain(cls: type[Any], real: type[Any]) -> None:
    """Copy the docstrings of a real class and its members to the emulated class."""
    cls.__doc__ = real.__doc__
    members: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        members |= vars(base)
    for name in dir(real):
        member = getattr(members.get(name), "__func__", members.get(name))
        ours = isinstance(member, property) or getattr(member, "__module__", "").startswith(OURS)
        if not ours or name.startswith("__") or id(member) in _explained:
            continue
        text = getattr(real, name).__doc__
        if text and getattr(member, "__name__", name) == name:
            _explained[id(member)] = member
            member.__doc__ = text


OURS = __name__.partition(".")[0]

_explained: dict[int, Any] = {}
"""Members with a copied docstring; the first docstring of a shared member is kept."""

for _name, _cls in CLASSES.items():
    _cls.__module__ = REAL.__name__
    refuse_rest(_cls, getattr(REAL, _name))
    _explain(_cls, getattr(REAL, _name))


def _root(arg: Any) -> Any:
    """Return the real class that corresponds to an object's C type; None for local objects."""
    name = next((name for name in ROOTS if isinstance(arg, CLASSES[name])), "")
    return getattr(REAL, name, None)


def _addressof(arg: Any) -> int:
    """Return the address of an object's handle; writes to it do not affect emulated objects."""
    root = _root(arg)
    return int(REAL._addressof(arg)) if root is None else foreign.handles().address(root, arg)


def _handleof(arg: Any) -> int:
    """Return an object's handle for C functions."""
    root = _root(arg)
    return int(REAL._handleof(arg)) if root is None else foreign.handles().number(root, arg)


def _sizeof(arg: Any) -> int:
    """Return the size in bytes of the C object of an MPI class or object."""
    cls = arg if isinstance(arg, type) else type(arg)
    ours = next((name for name, real in CLASSES.items() if issubclass(cls, real)), None)
    return int(REAL._sizeof(arg if ours is None else getattr(REAL, ours)))


CONSTANTS: dict[str, Any] = {
    **PREDEFINED,
    **errhandlers.PREDEFINED,
    **{f"{name.upper()}_NULL": CLASSES[name]() for name in ("File", "Session", "Win")},
    "COMM_NULL": Comm(),
    "GROUP_EMPTY": GROUP_EMPTY,
    "GROUP_NULL": GROUP_NULL,
    "MESSAGE_NO_PROC": MESSAGE_NO_PROC,
    "MESSAGE_NULL": MESSAGE_NULL,
    "REQUEST_NULL": REQUEST_NULL,
}
"""Emulated objects in place of the real ones."""

FUNCTIONS = {
    "_addressof": _addressof,
    "_handleof": _handleof,
    "_sizeof": _sizeof,
    **{
        name: value
        for module in (environment, ports, bsend_buffers, pkl5)
        for name, value in vars(module).items()
        if name in vars(REAL) and getattr(value, "__module__", "") == module.__name__
    },
}
"""Emulated functions in place of the real ones."""

for _name, _function in FUNCTIONS.items():
    _function.__doc__ = getattr(REAL, _name).__doc__


FINDER = "mpi4py._mpiabi"
"""The module of mpi4py that locates its compiled parts; it keeps their location."""


class StandIn(ModuleType):
    """The module ``mpi4py.MPI``; a processor that assigns a name has a value of its own."""

    def __setattr__(self, name: str, value: Any) -> None:
        if not name.startswith("__"):
            _change(InterpreterSetting(MODULE_VARIABLE, (self.__name__, name)))
        super().__setattr__(name, value)


class OwnPickle(REAL.Pickle):  # type: ignore[misc]
    """``MPI.pickle``; a processor that changes it has its own functions and protocol."""

    def __init__(
        self, dumps: Any = None, loads: Any = None, protocol: Any = None, threshold: Any = None
    ):
        _change(PICKLE)
        PICKLE.put((dumps, loads, protocol, threshold))

    def __setattr__(self, name: str, value: Any) -> None:
        _change(PICKLE)
        setattr(REAL.pickle, name, value)

    PROTOCOL = property(lambda self: REAL.pickle.PROTOCOL)
    THRESHOLD = property(lambda self: REAL.pickle.THRESHOLD)
    dumps, loads = staticmethod(REAL.pickle.dumps), staticmethod(REAL.pickle.loads)
    dumps_oob = staticmethod(REAL.pickle.dumps_oob)
    loads_oob = staticmethod(REAL.pickle.loads_oob)


def _put_pickle(name: str, value: tuple[Any, ...]) -> None:
    FUNCTIONS_OF_PICKLE[:] = value[:2]
    REAL.pickle.__init__(*value)


FUNCTIONS_OF_PICKLE: list[Any] = [None, None]
"""Functions of `REAL.pickle` to write and read; None: Python's own."""

PICKLE = InterpreterSetting(
    SettingKind(
        lambda _: (*FUNCTIONS_OF_PICKLE, REAL.pickle.PROTOCOL, REAL.pickle.THRESHOLD), _put_pickle
    ),
    "",
)
"""Functions, protocol and threshold of `MPI.pickle`."""


def _change(setting: InterpreterSetting) -> None:
    """Give the running processor its own copy of a setting."""
    here = running.turns.current
    if here.main is not None:
        running.turns.privacy.change(here, setting)


def stand_in() -> ModuleType:
    """Return the module imported by scripts as ``mpi4py.MPI``, for the current run."""
    module = StandIn(REAL.__name__, REAL.__doc__)
    names = vars(module)
    names["__file__"] = REAL.__file__
    names["__spec__"] = ModuleSpec(REAL.__name__, None, origin=REAL.__file__)
    for name, value in vars(REAL).items():
        if not name.startswith("__"):
            names[name] = _in_place_of(name, value)
    names["COMM_WORLD"], names["COMM_SELF"] = whole(), own()
    names["pickle"] = OwnPickle.__new__(OwnPickle)
    return module


def _in_place_of(name: str, value: Any) -> Any:
    """Return the stand-in's value for a name of the real module."""
    for ours in (CLASSES, CONSTANTS, FUNCTIONS):
        if name in ours:
            return ours[name]
    if name in LOCAL_CLASSES or name in LOCAL_FUNCTIONS:
        return value
    if callable(value) and not isinstance(value, REAL.Pickle):
        return refusing(f"MPI.{name}", value)
    return value


@contextmanager
def emulated(world: World) -> Iterator[None]:
    """Context manager: ``from mpi4py import MPI`` imports the emulated MPI."""
    replaced = _taken()
    sys.modules.update(_package(replaced["mpi4py"]))
    if FINDER in replaced:
        sys.modules[FINDER] = replaced[FINDER]
    # Datatypes do not know their module. pickle therefore searches all modules in order, and the
    # emulated ones must come first.
    for name in [name for name in sys.modules if not _is_part(name)]:
        sys.modules[name] = sys.modules.pop(name)
    try:
        yield
    finally:
        _taken()
        sys.modules.update(replaced)


def _taken() -> dict[str, ModuleType]:
    """Remove mpi4py's modules from `sys.modules` and return them."""
    names = [name for name in sys.modules if _is_part(name)]
    return {name: sys.modules.pop(name) for name in names}


def _is_part(name: str) -> bool:
    """Return whether a module belongs to mpi4py."""
    return name.partition(".")[0] == "mpi4py"


def _package(real: ModuleType) -> dict[str, ModuleType]:
    """Return the package's emulated modules; all others are imported from its files."""
    package = Package(real.__name__, real.__doc__)
    for name, value in vars(real).items():
        if not isinstance(value, ModuleType) and name != "rc":
            setattr(package, name, value)
    package._mpi = stand_in()
    modules: dict[str, Any] = {"mpi4py.rc": package._rc, "mpi4py.MPI": package._mpi}
    modules["mpi4py.futures._core"] = core(package._mpi)
    return {"mpi4py": package, **modules}
