"""How modules are loaded while processors run: once for all of a rank, or by each for itself.

What a shared module learns of MPI while it is loaded, it learns as the first processor, for all
others. So nothing of MPI can be asked there.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.machinery import ExtensionFileLoader, ModuleSpec, SourceFileLoader
from types import CodeType, FrameType, ModuleType
from typing import Any, NoReturn, cast

from mpinet.errors import UsageError
from mpinet.mpi.world.calls import running
from mpinet.mpi.world.processor import Processor
from mpinet.mpi.world.settings import watch_loops
from mpinet.mpi.world.world import World

BESIDE = "pip install --target LIB {package}, and PYTHONPATH=LIB"
"""How a package is installed so that its modules are the script's."""


class Loading(Processor):
    """A processor while it loads a module that others will share: it cannot ask who it is."""

    __slots__ = ()

    @property
    def id(self) -> int:  # type: ignore[override]
        """Refuse to say the processor's number."""
        _refuse_call(self)

    @property
    def account(self) -> Any:
        """Refuse a call."""
        _refuse_call(self)

    @account.setter
    def account(self, account: Any) -> None:
        _refuse_call(self)


def _refuse_call(processor: Processor) -> NoReturn:
    """End the run: a shared module has asked for something of MPI."""
    processor.__class__ = Processor
    module = next(_under_way())
    name, package = module.__name__, module.__name__.partition(".")[0]
    if isinstance(module.__loader__, ExtensionFileLoader):
        why = "which is compiled code, and the processors of a rank share it"
        remedy = "Let one of its functions do that"
    else:
        why = "which is installed, and the processors of a rank share it"
        remedy = f"Install it beside the script ({BESIDE.format(package=package)})"
    running.turns.stop(UsageError(f"MPI is used while {name} is imported, {why}. {remedy}."))


@contextmanager
def loading(world: World) -> Iterator[None]:
    """Within it, processors load modules of their own, and others without MPI."""
    codes: dict[tuple[str, float, int], CodeType] = {}

    def code_of(loader: SourceFileLoader, name: str) -> CodeType | None:
        """A module's code, which is one for all processors."""
        stats = loader.path_stats(loader.path)
        key = loader.path, stats["mtime"], stats["size"]
        if key not in codes:
            codes[key] = loader.get_code(name)  # type: ignore[assignment]
        return codes[key]

    def load(loader: Any, module: ModuleType) -> None:
        here, name = world.turns.current, module.__name__
        if here.main is None:
            EXECUTE(loader, module)
        elif world.turns.privacy.installed.owns(module, name):
            _claim_importers(world, name)
            exec(code_of(loader, name), module.__dict__)  # type: ignore[arg-type]
        else:
            _apart(here, EXECUTE, loader, module)
            if name == "asyncio":
                watch_loops()

    def create_compiled(loader: Any, spec: ModuleSpec) -> ModuleType:
        module = ModuleType(spec.name)
        module.__file__, module.__loader__ = spec.origin, loader
        return cast(ModuleType, _apart(world.turns.current, CREATE_COMPILED, loader, spec))

    def load_compiled(loader: Any, module: ModuleType) -> None:
        _apart(world.turns.current, EXECUTE_COMPILED, loader, module)

    source: Any = SourceFileLoader
    compiled: Any = ExtensionFileLoader
    # Loaders are found by finders that scripts may replace; the loaders' own methods are the one
    # place that every import of a file comes through.
    source.exec_module = load
    compiled.create_module, compiled.exec_module = create_compiled, load_compiled
    LOADS.update(function.__code__ for function in (load, create_compiled, load_compiled))
    try:
        yield
    finally:
        del source.exec_module
        compiled.create_module, compiled.exec_module = CREATE_COMPILED, EXECUTE_COMPILED


EXECUTE: Callable[..., Any] = SourceFileLoader.exec_module
CREATE_COMPILED: Callable[..., Any] = ExtensionFileLoader.create_module
EXECUTE_COMPILED: Callable[..., Any] = ExtensionFileLoader.exec_module

LOADS: set[CodeType] = set()
"""The code of functions that load a module: each calls it `module`."""


def _apart(here: Processor, load: Callable[..., Any], loader: Any, wanted: Any) -> Any:
    """Let a loader make or execute a module that others will share; what it gives."""
    # Changing the class costs other processors nothing: a flag would be asked for at every call.
    before = type(here)
    if before is Processor and here.main is not None:
        here.__class__ = Loading
    try:
        return load(loader, wanted)
    finally:
        if type(here) is Loading and not (before is Loading and _is_sharing()):
            here.__class__ = Processor  # type: ignore[assignment]


def _is_sharing() -> bool:
    """Whether a module that others will share is under way yet, beside the one that ends."""
    under_way = _under_way()
    next(under_way)
    owns = running.turns.privacy.installed.owns
    return not all(owns(module, module.__name__) for module in under_way)


def _under_way() -> Iterator[ModuleType]:
    """The modules that are being loaded by the caller, the last begun first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in LOADS:
            yield frame.f_locals["module"]
        frame = frame.f_back


def _claim_importers(world: World, name: str) -> None:
    """Let every processor load for itself what is just importing a module of each one's own.

    Parameters
    ----------
    world : World
        The run.
    name : str
        The module; the last begun.
    """
    privacy, here = world.turns.privacy, world.turns.current
    importers = _under_way()
    next(importers)
    for importer in importers:
        if privacy.installed.owns(importer, importer.__name__):
            continue
        package = importer.__name__.partition(".")[0]
        if type(here) is Loading:
            here.__class__ = Processor  # type: ignore[assignment]
        if privacy.shares(package):
            world.turns.stop(
                UsageError(
                    f"{importer.__name__} imports {name}, which every processor loads for itself, "
                    f"but the processors of a rank share {package} already. Import {name} first, "
                    f"or install {package} beside the script ({BESIDE.format(package=package)})."
                )
            )
        privacy.installed.claim(package)
