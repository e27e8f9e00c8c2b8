"""The loading of modules while processors run: once for all of a rank, or by each for itself.

A module that is installed is executed once, on behalf of all, until its import is seen to reach
mpi4py: by an import of it, by one of a module that has reached it before, or by a call of MPI. Then
its package, and those that are importing it, are every processor's own. Who has them has executed
them for itself, so that nothing has to be taken back.

A function of a module that is shared already may reach mpi4py later on. The module is not executed
again then, but the processor has the variables of its package's modules for itself from there on.
"""

from __future__ import annotations

import builtins
import importlib
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import CodeType, FrameType, ModuleType
from typing import Any, cast

from mpinet.errors import UsageError
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.installed import is_compiled, package_of
from mpinet.mpi.world.process_state import InterpreterSetting
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.replacing import replaced
from mpinet.mpi.world.settings import VARIABLES, watch_loops
from mpinet.mpi.world.world import World


class Loading(Processor):
    """A processor while it loads a module for all: who it is, it can ask for itself alone."""

    __slots__ = ()

    @property
    def id(self) -> int:  # type: ignore[override]
        """The processor's number, if all that is being loaded can be its own."""
        return _asked(self).id

    @property
    def account(self) -> Any:
        """The account of its call, on the same condition."""
        return _asked(self).account

    @account.setter
    def account(self, account: Any) -> None:
        _asked(self).account = account


def _asked(processor: Processor) -> Processor:
    """The processor, which asks for something of MPI while it loads modules; they are its own."""
    reached(processor)
    if type(processor) is Loading:
        processor.__class__ = Processor  # type: ignore[assignment]
        name = next(module.__name__ for module in _under_way() if is_compiled(module))
        running.turns.stop(
            UsageError(
                f"MPI is used while {name} is imported, which is compiled code, and the processors "
                "of a rank share it. Let one of its functions do that."
            )
        )
    return processor


def reached(here: Processor) -> None:
    """Let processors load for themselves what is being loaded: it has reached mpi4py."""
    privacy = running.turns.privacy
    under_way = list(_under_way())
    names = [each.__name__ for each in under_way if privacy.installed.shares(each, each.__name__)]
    if names:
        privacy.claim(map(package_of, names))
    # Changing the class costs other processors nothing: a flag would be asked for at every call.
    if type(here) is Loading and not any(map(is_compiled, under_way)):
        here.__class__ = Processor  # type: ignore[assignment]


@contextmanager
def loading(world: World) -> Iterator[None]:
    """Within it, processors load modules of their own, and others once for all."""
    codes: dict[tuple[str, float, int], CodeType] = {}

    def code_of(loader: SourceFileLoader, name: str) -> CodeType | None:
        """A module's code, which is one for all processors."""
        stats = loader.path_stats(loader.path)
        # A script may write a module and import it again. Time and size tell when the cached code
        # is stale.
        key = loader.path, stats["mtime"], stats["size"]
        if key not in codes:
            codes[key] = loader.get_code(name)  # type: ignore[assignment]
        return codes[key]

    def load(loader: Any, module: ModuleType) -> None:
        here, name = world.turns.current, module.__name__
        if here.main is None:
            EXECUTE(loader, module)
            return
        if world.turns.privacy.installed.owns(module, name):
            reached(here)
            _join_package(here, module)
            exec(code_of(loader, name), module.__dict__)  # type: ignore[arg-type]
        else:
            _apart(here, EXECUTE, loader, module)
        if name in ADAPTED:
            ADAPTED[name](module)

    def create_compiled(loader: Any, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__file__, module.__loader__ = spec.origin, loader
        return cast(ModuleType, _apart(world.turns.current, CREATE_COMPILED, loader, spec))

    def load_compiled(loader: Any, module: ModuleType) -> None:
        _apart(world.turns.current, EXECUTE_COMPILED, loader, module)

    def imported(
        name: str,
        globals: Any = None,
        locals: Any = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> ModuleType:
        found = IMPORT(name, globals, locals, fromlist, level)
        if globals is not None:
            _note(world, globals.get("__name__"), found, fromlist)
        return found

    def import_module(name: str, package: str | None = None) -> ModuleType:
        found = IMPORT_MODULE(name, package)
        _note(world, sys._getframe(1).f_globals.get("__name__"), found, ())
        return found

    # Loaders are found by finders that scripts may replace; the loaders' own methods are the one
    # place that every import of a file comes through. What is there already is imported without.
    # Modules under way are found on the stack, by these codes. A list would have to be kept in
    # order across switches.
    LOADS.update(function.__code__ for function in (load, create_compiled, load_compiled))
    with replaced(
        (SourceFileLoader, "exec_module", load),
        (ExtensionFileLoader, "create_module", create_compiled),
        (ExtensionFileLoader, "exec_module", load_compiled),
        (builtins, "__import__", imported),
        (importlib, "import_module", import_module),
    ):
        yield


IMPORT: Callable[..., ModuleType] = builtins.__import__
IMPORT_MODULE: Callable[..., ModuleType] = importlib.import_module
EXECUTE: Callable[..., Any] = SourceFileLoader.exec_module
CREATE_COMPILED: Callable[..., Any] = ExtensionFileLoader.create_module
EXECUTE_COMPILED: Callable[..., Any] = ExtensionFileLoader.exec_module

ADAPTED: dict[str, Callable[[ModuleType], None]] = {"asyncio": lambda _: watch_loops()}
"""Calls for modules that have been loaded while processors run, by the modules' names."""

LOADS: set[CodeType] = set()
"""The code of functions that load a module: each calls it `module`."""


def _apart(here: Processor, load: Callable[..., Any], loader: Any, wanted: Any) -> Any:
    """Let a loader make or execute a module that others will share; what it gives."""
    before = type(here)
    if before is Processor and here.main is not None:
        # While a shared module loads, its question for a rank has no answer that holds for all. The
        # class notices that question.
        here.__class__ = Loading
    try:
        return load(loader, wanted)
    finally:
        if type(here) is Loading and not (before is Loading and _is_sharing()):
            here.__class__ = Processor  # type: ignore[assignment]


def _is_sharing() -> bool:
    """Tell if a module that others will share is under way yet, beside the one that ends."""
    under_way = _under_way()
    next(under_way)
    owns = running.turns.privacy.installed.owns
    return not all(owns(module, module.__name__) for module in under_way)


def _under_way() -> Iterator[ModuleType]:
    """The modules that are being loaded by the caller, the last begun first."""
    for frame in _frames():
        if frame.f_code in LOADS:
            yield frame.f_locals["module"]


def _frames() -> Iterator[FrameType]:
    """The caller's frames, the last called first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _note(world: World, importer: Any, found: ModuleType, parts: Sequence[str] | None) -> None:
    """Note what somebody has imported.

    Parameters
    ----------
    world : World
        The run.
    importer : str
        The name of the module whose code it is.
    found : ModuleType
        What it has found.
    parts : sequence of str or None
        What it takes from it.
    """
    here, name = world.turns.current, found.__name__
    # Another thread of the process, as a notebook's kernel has some, may import before any turn.
    if here.main is None or "__main__" in (importer, name) or not isinstance(importer, str):
        return
    privacy, installed = world.turns.privacy, world.turns.privacy.installed
    reaches = installed.reaches(name)
    if not reaches and getattr(found, "__file__", None) is None:  # a folder of many packages
        reaches = any(installed.reaches(f"{name}.{part}") for part in parts or ())
    if not reaches and (privacy.shares(name) or not installed.owns(found, name)):
        return
    module = sys.modules.get(importer)
    if module is None or not installed.shares(module, importer):
        return
    if reaches and not any(module is each for each in _under_way()):
        installed.note_use(package_of(importer))
        _keep_variables(here, package_of(importer))
    reached(here)


def _keep_variables(here: Processor, package: str) -> None:
    """Let a processor have the variables of those modules of a package whose functions run."""
    privacy = running.turns.privacy
    for name in {frame.f_globals.get("__name__") for frame in _frames()}:
        if isinstance(name, str) and package_of(name) == package and name in sys.modules:
            privacy.change(here, InterpreterSetting(VARIABLES, sys.modules[name]))


def _join_package(here: Processor, module: ModuleType) -> None:
    """Let a processor's own module find its parts that are shared, and be found in what is shared.

    An import binds a module to its package once, when it is loaded.
    """
    privacy, name = running.turns.privacy, module.__name__
    package, _, _ = name.rpartition(".")
    if privacy.shares(package):
        privacy.change(here, InterpreterSetting(VARIABLES, sys.modules[package]))
    for part in privacy.parts(name):
        vars(module).setdefault(part, sys.modules[f"{name}.{part}"])
