"""Module loading while processors run: once per rank, or once per processor.

An installed module is executed once for all processors of a rank, until its import reaches mpi4py.
The import reaches mpi4py if it imports mpi4py, imports a module known to reach mpi4py, or calls
MPI. Then every processor loads the module's package, and the packages that are importing it, for
itself. Processors with these modules have already executed them for themselves, and nothing
has to be undone.

A function of a shared module may reach mpi4py later. Then the module is not executed again. The
processor gets its own copy of the variables of its package's modules from then on.
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
from mpinet.mpi.world.settings import PATCHES, VARIABLES, watch_loops, watch_patches
from mpinet.mpi.world.world import World


class Loading(Processor):
    """A processor that is loading a shared module. Asking for its rank makes the module its own."""

    __slots__ = ()

    @property
    def id(self) -> int:  # type: ignore[override]
        """The processor's number; reading it makes the modules being loaded the processor's own."""
        return _asked(self).id

    @property
    def account(self) -> Any:
        """The account of the processor's call; reading it has the same effect as reading `id`."""
        return _asked(self).account

    @account.setter
    def account(self, account: Any) -> None:
        _asked(self).account = account


def _asked(processor: Processor) -> Processor:
    """Return the processor after its modules being loaded have become its own; it is using MPI."""
    reached(processor)
    if type(processor) is Loading:
        processor.__class__ = Processor  # type: ignore[assignment]
        name = next(module.__name__ for module in _under_way() if is_compiled(module))
        running.turns.stop(
            UsageError(
                f"The compiled module {name} uses MPI during its import, but all processors of a "
                "rank share compiled modules. Use MPI in one of its functions instead."
            )
        )
    return processor


def reached(here: Processor) -> None:
    """Make the modules being loaded the processors' own, because one has reached mpi4py."""
    privacy = running.turns.privacy
    under_way = list(_under_way())
    names = [each.__name__ for each in under_way if privacy.installed.shares(each, each.__name__)]
    if names:
        privacy.claim(map(package_of, names))
    # The class marks this state, because a flag would have to be tested at every call.
    if type(here) is Loading and not any(map(is_compiled, under_way)):
        here.__class__ = Processor  # type: ignore[assignment]


@contextmanager
def loading(world: World) -> Iterator[None]:
    """Context manager: processors load their own modules, and load shared modules once for all."""
    codes: dict[tuple[str, float, int], CodeType] = {}

    def code_of(loader: SourceFileLoader, name: str) -> CodeType | None:
        """Return a module's code, compiled once for all processors."""
        stats = loader.path_stats(loader.path)
        # A script may write a module and import it again. Time and size show when the cached code
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
        parent = name.rpartition(".")[0] if level == 0 else ""
        if parent and name in sys.modules and parent not in sys.modules:
            # A shared compiled module in a package that this processor has not loaded yet.
            imported(parent)
        found = IMPORT(name, globals, locals, fromlist, level)
        if globals is not None:
            _note(world, globals.get("__name__"), found, fromlist)
        return found

    def import_module(name: str, package: str | None = None) -> ModuleType:
        found = IMPORT_MODULE(name, package)
        _note(world, sys._getframe(1).f_globals.get("__name__"), found, ())
        return found

    # Scripts may replace the finders. The loaders' own methods are the one place through which
    # every import of a file passes. Modules in ``sys.modules`` are imported without a loader.
    # Modules being loaded are found on the stack by these codes. A list would have to be kept in
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

ADAPTED: dict[str, Callable[[ModuleType], None]] = {
    "asyncio": lambda _: watch_loops(),
    **dict.fromkeys(PATCHES, watch_patches),
}
"""Functions that adapt a module loaded while processors run, by the module's name."""

LOADS: set[CodeType] = set()
"""Code of the functions that load a module; each has a local variable `module`."""


def _apart(here: Processor, load: Callable[..., Any], loader: Any, wanted: Any) -> Any:
    """Let a loader create or execute a module for all processors; return its result."""
    before = type(here)
    if before is Processor and here.main is not None:
        # While a shared module loads, no answer to its question for a rank holds for all
        # processors. The class detects this question.
        here.__class__ = Loading
    try:
        return load(loader, wanted)
    finally:
        if type(here) is Loading and not (before is Loading and _is_sharing()):
            here.__class__ = Processor  # type: ignore[assignment]


def _is_sharing() -> bool:
    """Return whether any shared module is still loading, not counting the innermost module."""
    under_way = _under_way()
    next(under_way)
    owns = running.turns.privacy.installed.owns
    return not all(owns(module, module.__name__) for module in under_way)


def _under_way() -> Iterator[ModuleType]:
    """Yield the modules that the caller is loading, the most recently begun first."""
    for frame in _frames():
        if frame.f_code in LOADS:
            yield frame.f_locals["module"]


def _frames() -> Iterator[FrameType]:
    """Yield the caller's frames, innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        yield frame
        frame = frame.f_back


def _note(world: World, importer: Any, found: ModuleType, parts: Sequence[str] | None) -> None:
    """Record an import, and classify the importing package.

    Parameters
    ----------
    world : World
        The run.
    importer : str
        Name of the importing module.
    found : ModuleType
        The imported module.
    parts : sequence of str or None
        Names imported from the module.
    """
    here, name = world.turns.current, getattr(found, "__name__", None)
    # Another thread of the process, such as a thread of a notebook's kernel, may import before any
    # turn.
    if here.main is None or "__main__" in (importer, name):
        return
    if not isinstance(importer, str) or not isinstance(name, str):
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
    """Give a processor its own variables of the modules of a package that are on the stack."""
    privacy = running.turns.privacy
    for name in {frame.f_globals.get("__name__") for frame in _frames()}:
        if isinstance(name, str) and package_of(name) == package and name in sys.modules:
            privacy.change(here, InterpreterSetting(VARIABLES, sys.modules[name]))


def _join_package(here: Processor, module: ModuleType) -> None:
    """Connect a processor's own module with its shared submodules and its shared parent package.

    An import binds a module to its package only once, when the module is loaded.
    """
    privacy, name = running.turns.privacy, module.__name__
    package, _, _ = name.rpartition(".")
    if privacy.shares(package):
        privacy.change(here, InterpreterSetting(VARIABLES, sys.modules[package]))
    for part in privacy.parts(name):
        vars(module).setdefault(part, sys.modules[f"{name}.{part}"])
