"""Compile kernels and rules beforehand, in parallel, so jobs need not wait for them.

Most kernels and rules are found automatically: those named in modules of mpinet, the rules of every
machine of a family, and the router's loops with a family's rules. Networks combined from others,
for example products, are listed here. Rules written by users are compiled when a job first uses
them.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache, partial
from importlib import import_module
from itertools import chain, product
from multiprocessing import get_context
from types import ModuleType
from typing import Any

from mpinet.base.native.background import WATCH
from mpinet.base.native.kept import kept
from mpinet.base.ownership import own_children
from mpinet.base.roomy import roomy
from mpinet.base.version import PACKAGE
from mpinet.compiled import Compiled, Kernel, Rule
from mpinet.errors import MpinetError
from mpinet.machine import Machine, hop
from mpinet.machine.router import Router
from mpinet.machine.traffic.dense import COMMON, bound
from mpinet.machine.transport import Local
from mpinet.networks.catalogue import FAMILIES, family_class, open_topology
from mpinet.networks.classchoice import open_classes, own_choices
from mpinet.networks.classes import order_of
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import pattern_of

MAKES_CODE = re.compile(r"@kernel|@rule|\brule\(|= [\w.]+\.bind\(\s*f?\"")

RULES, FAMILY, ROUTINGS, LOOPS, NETWORK, MIXES, DENSE = (
    "rules", "family", "routings", "loops", "network", "patterns", "dense"
)  # fmt: skip
"""Prefixes of names of code groups. They mean: rules of a module; rules of a family's example;
rules of all its routings; the router's loops with these rules; rules of a combined network; rules
of combined patterns; the dense step in common shapes.
"""

OF_A_FILE = "graph"
"""Family of networks listed in files; its example names a file that does not exist."""

FACTORS = "ring:4", "mesh:3x3", "torus:3x3", "hypercube:2", "complete:4"
ROUTERS = (
    "torus:3x3", "mesh:3x3", "ring:4", "hypercube:3", "complete:4", "hyperx:3x3",
    "flatbutterfly:2,3", "slimfly:5", "polarfly:3", "randomregular:16,3", "debruijn:3", "kautz:2,2",
)  # fmt: skip
COMBINED = (
    *map("*".join, product(FACTORS, FACTORS)),
    *(f"{name},hosts=2" for name in ROUTERS),
)
"""Networks combined from others, in the usual forms; their sizes are parameters."""

PARTS = "uniform", "permutation", "neighbour", "tornado", "complement", "hotspot:0,20"
"""Patterns on a ring of 16, combined to mixes and group products."""

Told = Callable[[int, int], object]
"""Callback for progress: number of compiled codes, number of all codes."""


def everything() -> list[str]:
    """List the names of all code groups to compile beforehand, the longest compilations first.

    Returns
    -------
    list of str
        ``MODULE:NAME`` for kernels, ``PREFIX:NAME`` for groups.
    """
    return [
        *usual(),
        *_of_families(LOOPS),
        *_of_families(ROUTINGS),
        *(f"{NETWORK}:{name}" for name in COMBINED),
        f"{MIXES}:made",
        f"{DENSE}:common",
    ]


def usual() -> list[str]:
    """List the names in `everything` whose code almost every job uses in part."""
    sizes = {name: _instructions(kernel) for name, kernel in _kernels().items()}
    longest_first = sorted(sizes, key=lambda name: (-sizes[name], name))
    rules = [f"{RULES}:{name}" for name in _modules()]
    return [*longest_first, *rules, *_of_families(FAMILY)]


def _of_families(place: str) -> list[str]:
    return [f"{place}:{name}" for name in FAMILIES if name != OF_A_FILE]


@cache
def codes(name: str) -> dict[str, Any]:
    """Return the kernels and rules behind one name of `everything`.

    Returns
    -------
    dict of str to Compiled
        Kernels and rules by unique key. The keys are the same in all versions of Python.

    Raises
    ------
    AttributeError, ImportError, MpinetError
        The name is unknown.
    """
    place, _, what = name.partition(":")
    found = FINDERS[place](what) if place in FINDERS else [getattr(import_module(place), what)]
    keyed: dict[str, Any] = {}
    seen = set()
    for each in found:
        code = getattr(each, "rule", each)
        if code.fingerprint not in seen and not _has_stand_ins(code):
            seen.add(code.fingerprint)
            key = f"{name} {code.name}"
            turn = sum(other.partition(" #")[0] == key for other in keyed)
            keyed[f"{key} #{turn}" if turn else key] = code
    return keyed


def compile_all(names: Iterable[str], processes: int, told: Told = lambda _done, _all: None) -> str:
    """Compile the code of several names of `everything` in parallel; return the errors as one text.

    Parameters
    ----------
    names : iterable of str
        Names of the code to compile.
    processes : int
        Number of parallel processes.
    told : callable
        Progress callback, called at the beginning and after each compilation.
    """
    return in_processes(compile_one, *missing(names, WATCH.has), processes, told)


def missing(names: Iterable[str], has: Callable[[Any], bool]) -> tuple[dict[str, str], list[str]]:
    """Return the name of each code that is not compiled yet, by key, and a list of errors."""
    wanted: dict[str, str] = {}
    wrong: list[str] = []
    seen: set[str] = set()
    for name in names:
        try:
            for key, code in codes(name).items():
                if code.fingerprint not in seen and not has(code):
                    wanted[key] = name
                seen.add(code.fingerprint)
        except (AttributeError, ImportError, MpinetError) as error:
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return wanted, wrong


def in_processes(
    work: Callable[[str, str], None],
    wanted: dict[str, str],
    wrong: list[str],
    processes: int,
    told: Told,
) -> str:
    """Call `work` for each wanted code in parallel; return all errors as one text.

    `wanted` maps the key of each code to the name of its group.
    """
    told(0, len(wanted))
    if wanted:
        # Fresh processes: a copy of this process would share its MPI library, if loaded.
        with own_children(), ProcessPoolExecutor(processes, get_context("spawn")) as pool:
            running = [pool.submit(_tried, work, name, key) for key, name in wanted.items()]
            for done, each in enumerate(as_completed(running), 1):
                if said := str(each.exception() or each.result()):
                    wrong.append(said)
                told(done, len(wanted))
    return "; ".join(sorted(set(wrong)))


def _tried(work: Callable[[str, str], None], name: str, key: str) -> str:
    try:
        work(name, key)
    except Exception as error:  # every error goes to another process as a text
        return f"{key}: {type(error).__name__}: {error}"
    return ""


def compile_one(name: str, key: str) -> None:
    """Compile one of `codes` and store its object."""
    from mpinet.compiler import objects

    code = codes(name)[key]
    if not WATCH.has(code):
        make = partial(objects.made, code.description, code.fingerprint, [objects.host()])
        kept().add(code.fingerprint, roomy(make)()[0])


def _modules() -> list[str]:
    """List the modules that define kernels or rules."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if MAKES_CODE.search(path.read_text(encoding="utf-8")):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            found.append(".".join(parts).removesuffix(".__init__"))
    return [name for name in found if not name.startswith("mpinet.compiler")]


@cache
def _kernels() -> dict[str, Kernel]:
    """Return the complete kernels of all modules, by ``MODULE:NAME``."""
    found: dict[str, Kernel] = {}
    seen: set[int] = set()
    for module in map(import_module, _modules()):
        for name, value in vars(module).items():
            # A kernel imported under several names is compiled once.
            if isinstance(value, Kernel) and id(value) not in seen and not _has_stand_ins(value):
                seen.add(id(value))
                found[f"{module.__name__}:{name}"] = value
    return found


def _has_stand_ins(code: Compiled) -> bool:
    """Return True if a kernel or rule has placeholders, to be replaced by binding."""
    # Open parts raise when called. A kernel with open parts is a template, not a kernel.
    return any(
        "NotImplementedError" in each.function.__code__.co_names for each in code.compiled_in
    )


def _instructions(kernel: Kernel) -> int:
    """Return the size of a kernel's code, in bytes of Python bytecode."""
    return sum(
        {each.name: len(each.function.__code__.co_code) for each in kernel.compiled_in}.values()
    )


def _rules_in(scope: Any) -> list[Any]:
    """Return the rules among the values of a module, a class or an object with fields."""
    values: Iterable[Any] = vars(scope).values()
    if is_dataclass(scope) and not isinstance(scope, type):
        values = [getattr(scope, field.name) for field in fields(scope)]
    return [each for each in values if isinstance(getattr(each, "rule", each), Rule)]


def _rules_of_module(name: str) -> Iterator[Any]:
    """Yield the rules defined in a module and its classes."""
    module: ModuleType = import_module(name)
    yield from _rules_in(module)
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == name:
            yield from _rules_in(value)


def _rules_of(family: str) -> Iterator[Any]:
    """Yield the rules of a family's machine: its wiring, schedules and own routing."""
    topology = _example(family)
    yield from _wiring(topology)
    yield from _rules_of_routing(topology, topology.routing())


def _example(family: str) -> Topology:
    return open_topology(family_class(family).example)


def _wiring(topology: Topology) -> Iterator[Any]:
    """Yield the rules of a network without its routings."""
    for scope in (topology, *type(topology).__mro__):
        yield from _rules_in(scope)
    yield order_of(topology)
    with suppress(MpinetError):
        for make in topology.schedules(0).values():
            yield from _rules_in(make())
    if type(topology).cycle is not Topology.cycle and (cycle := topology.cycle()) is not None:
        yield from _rules_in(cycle)


def _rules_of_routing(topology: Topology, routing: Routing) -> Iterator[Any]:
    """Yield the rules of a routing: its own, the rules around faults, and all channel classes."""
    yield from _rules_in(routing)
    for dead in ([], [topology.size - 1], [0]):
        with suppress(MpinetError):
            yield from _rules_in(routing.around(dead))
    choices = own_choices(topology, routing)
    for make in (choices if routing.adaptive else choices | topology.channel_classes).values():
        with suppress(MpinetError):
            yield make().rule
    if routing.settle is not None and routing.base is not None:
        classes = replace(open_classes(topology, routing.base), count=1)
        yield from _rules_in(routing.settle(classes))


def _rules_of_routings(family: str) -> Iterator[Any]:
    """Yield the rules of all routings of a family's example."""
    yield from _all_routings(_example(family))


def _all_routings(topology: Topology) -> Iterator[Any]:
    for name in topology.routing_names:
        with suppress(MpinetError):
            yield from _rules_of_routing(topology, topology.routing(name))


def _rules_of_network(name: str) -> Iterator[Any]:
    """Yield the rules of a combined network, with its routings."""
    topology = open_topology(name)
    yield from _wiring(topology)
    yield from _all_routings(topology)


def _loops_of(family: str) -> Iterator[Kernel]:
    """Yield the router's loops with a family's rules, in the variants used by commands and bench.

    All ports are used. On one rank there are loops with and without a meter for the links. On
    several ranks there is one loop with a meter.
    """
    topology = _example(family)
    for metered in (False, True):
        with suppress(MpinetError):
            machine = Machine(topology, "all", Local(), loads=metered)
            router = Router(machine, topology.routing())
            yield from router.inlining()
            if metered:
                yield from router.inlining(LEAVERS=hop.CROSSING)


def _mixes(_: str) -> Iterator[Rule]:
    """Yield the rules of combined patterns."""
    ring = open_topology("ring:16")
    for one, other in product(PARTS, PARTS):
        for name in (f"mix:{one}@0.5+{other}", f"groups:{one}@4+{other}"):
            with suppress(MpinetError):
                yield pattern_of(ring, name).rule


FINDERS: dict[str, Callable[[str], Iterable[Any]]] = {
    RULES: _rules_of_module,
    FAMILY: _rules_of,
    ROUTINGS: _rules_of_routings,
    LOOPS: _loops_of,
    NETWORK: _rules_of_network,
    MIXES: _mixes,
    DENSE: lambda _: chain(*map(bound, COMMON)),
}


def cores() -> int:
    """Return the number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def main() -> None:
    """Compile the code used by almost every job, on all cores."""

    def told(done: int, of: int) -> None:
        if of and done * 10 // of > (done - 1) * 10 // of:
            print(f"compiled {done} of {of}", file=sys.stderr, flush=True)

    if wrong := compile_all(usual(), cores(), told):
        sys.exit(wrong)


if __name__ == "__main__":
    main()
