"""Kernels and rules compiled beforehand, in parallel, so that no job waits for them later.

Most of what there is to compile is found, not listed: the kernels and rules that modules of mpinet
have by a name, the rules that any machine of a family takes, and the loops of the router with a
family's rules in them. The networks that are made of others, such as products, are listed. Native
code of rules that users write is made where a job first uses them.
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
from itertools import product
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
from mpinet.machine.transport import Local
from mpinet.networks.catalogue import FAMILIES, family_class, open_topology
from mpinet.networks.classchoice import open_classes, own_choices
from mpinet.networks.classes import order_of
from mpinet.networks.routing import Routing
from mpinet.networks.topology import Topology
from mpinet.programs.patterns import pattern_of

MAKES_CODE = re.compile(r"@kernel|@rule|\brule\(|= [\w.]+\.bind\(\s*f?\"")

RULES, FAMILY, ROUTINGS, LOOPS, NETWORK, MIXES = (
    "rules", "family", "routings", "loops", "network", "patterns"
)  # fmt: skip
"""Places beside modules: the rules of a module; of a family's example; of all its routings; the
router's loops with those rules in them; the rules of a network that is made of others; patterns
that are made of others."""

OF_A_FILE = "graph"
"""Family of networks that files list: its example is no file that there is."""

FACTORS = "ring:4", "mesh:3x3", "torus:3x3", "hypercube:2", "complete:4"
ROUTERS = (
    "torus:3x3", "mesh:3x3", "ring:4", "hypercube:3", "complete:4", "hyperx:3x3",
    "flatbutterfly:2,3", "slimfly:5", "polarfly:3", "randomregular:16,3", "debruijn:3", "kautz:2,2",
)  # fmt: skip
COMBINED = (
    *map("*".join, product(FACTORS, FACTORS)),
    *(f"{name},hosts=2" for name in ROUTERS),
)
"""Networks that are made of others, as jobs mostly use them; the numbers are parameters."""

PARTS = "uniform", "permutation", "neighbour", "tornado", "complement", "hotspot:0,20"
"""Patterns on a ring of 16, of which mixes and products of groups are made."""

Told = Callable[[int, int], object]
"""Takes how many of how many are compiled."""


def everything() -> list[str]:
    """List all that can be compiled beforehand, what takes longest first.

    Returns
    -------
    list of str
        ``MODULE:NAME`` of kernels, and names behind one of the places above.
    """
    return [
        *usual(),
        *_of_families(LOOPS),
        *_of_families(ROUTINGS),
        *(f"{NETWORK}:{name}" for name in COMBINED),
        f"{MIXES}:made",
    ]


def usual() -> list[str]:
    """List the part of `everything` that almost any job uses some of."""
    sizes = {name: _instructions(kernel) for name, kernel in _kernels().items()}
    longest_first = sorted(sizes, key=lambda name: (-sizes[name], name))
    rules = [f"{RULES}:{name}" for name in _modules()]
    return [*longest_first, *rules, *_of_families(FAMILY)]


def _of_families(place: str) -> list[str]:
    return [f"{place}:{name}" for name in FAMILIES if name != OF_A_FILE]


@cache
def codes(name: str) -> dict[str, Any]:
    """Return the kernels and rules of one of `everything`.

    Returns
    -------
    dict of str to Compiled
        Each by a key that no other of them has, and that is the same in all versions of Python.

    Raises
    ------
    AttributeError, ImportError, MpinetError
        There is nothing of this name.
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
    """Compile several of `everything` in parallel; return what is wrong, or an empty text.

    Parameters
    ----------
    names : iterable of str
        What to compile.
    processes : int
        How many at a time.
    told : callable
        Called at the beginning and whenever one is compiled.
    """
    return in_processes(compile_one, *missing(names, WATCH.has), processes, told)


def missing(names: Iterable[str], has: Callable[[Any], bool]) -> tuple[dict[str, str], list[str]]:
    """List the codes that are not there yet, by key, each with its name; and what is wrong."""
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
    """Do work for the names and keys of codes in parallel; return what is wrong, in one text."""
    told(0, len(wanted))
    if wanted:
        # Fresh processes: a copy of this one would share its MPI, if it has loaded one.
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
    except Exception as error:  # it goes to another process: as a text, whatever it is
        return f"{key}: {type(error).__name__}: {error}"
    return ""


def compile_one(name: str, key: str) -> None:
    """Compile one of `codes` and keep it."""
    from mpinet.compiler import objects

    code = codes(name)[key]
    if not WATCH.has(code):
        make = partial(objects.made, code.description, code.fingerprint, [objects.host()])
        kept().add(code.fingerprint, roomy(make)()[0])


def _modules() -> list[str]:
    """List the modules that make kernels or rules."""
    found = []
    for path in sorted(PACKAGE.rglob("*.py")):
        if MAKES_CODE.search(path.read_text(encoding="utf-8")):
            parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
            found.append(".".join(parts).removesuffix(".__init__"))
    return [name for name in found if not name.startswith("mpinet.compiler")]


@cache
def _kernels() -> dict[str, Kernel]:
    """List the kernels that can be compiled as they are, each by a module and a name there."""
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
    """Tell if something has to be bound to a kernel or rule before it is one."""
    # Open parts raise when called; a kernel with one of them is a template, not a kernel.
    return any(
        "NotImplementedError" in each.function.__code__.co_names for each in code.compiled_in
    )


def _instructions(kernel: Kernel) -> int:
    """Return how much there is to compile, in bytes of Python's code."""
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
    """List the rules that a module and its classes name."""
    module: ModuleType = import_module(name)
    yield from _rules_in(module)
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == name:
            yield from _rules_in(value)


def _rules_of(family: str) -> Iterator[Any]:
    """List the rules that a machine of a family takes: its wiring, schedules and own routing."""
    topology = _example(family)
    yield from _wiring(topology)
    yield from _rules_of_routing(topology, topology.routing())


def _example(family: str) -> Topology:
    return open_topology(family_class(family).example)


def _wiring(topology: Topology) -> Iterator[Any]:
    """List the rules of a network without its routings."""
    for scope in (topology, *type(topology).__mro__):
        yield from _rules_in(scope)
    yield order_of(topology)
    with suppress(MpinetError):
        for make in topology.schedules(0).values():
            yield from _rules_in(make())
    if type(topology).cycle is not Topology.cycle and (cycle := topology.cycle()) is not None:
        yield from _rules_in(cycle)


def _rules_of_routing(topology: Topology, routing: Routing) -> Iterator[Any]:
    """List the rules of a routing: its own, those around faults, and all classes of channels."""
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
    """List the rules of all routings of a family's example."""
    yield from _all_routings(_example(family))


def _all_routings(topology: Topology) -> Iterator[Any]:
    for name in topology.routing_names:
        with suppress(MpinetError):
            yield from _rules_of_routing(topology, topology.routing(name))


def _rules_of_network(name: str) -> Iterator[Any]:
    """List the rules of a network that is made of others, with its routings."""
    topology = open_topology(name)
    yield from _wiring(topology)
    yield from _all_routings(topology)


def _loops_of(family: str) -> Iterator[Kernel]:
    """List the router's loops with a family's rules in them, as commands and the bench want them.

    All ports are used. On one rank there are loops with and without a meter for the links; on
    several there is one with it.
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
    """List the rules of patterns that are made of others."""
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
}


def main() -> None:
    """Compile what almost any job uses, on all cores."""

    def told(done: int, of: int) -> None:
        if of and done * 10 // of > (done - 1) * 10 // of:
            print(f"compiled {done} of {of}", file=sys.stderr, flush=True)

    if wrong := compile_all(usual(), len(os.sched_getaffinity(0)), told):
        sys.exit(wrong)


if __name__ == "__main__":
    main()
