"""Kernels and rules compiled beforehand, in parallel, so that no job waits for them later.

What there is to compile is found, not listed: every kernel that a module of mpinet has by a name,
and the rules of every family's example with its own routing. What is made of rules at run time,
such as those of a product, and what users write, is compiled where it is first used.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from importlib import import_module
from multiprocessing import get_context
from typing import Any

from mpinet.base.native.background import WATCH
from mpinet.base.native.kept import kept
from mpinet.base.ownership import own_children
from mpinet.base.roomy import roomy
from mpinet.base.version import PACKAGE
from mpinet.compiled import Kernel, Rule
from mpinet.networks.catalogue import FAMILIES, family_class, open_topology

MAKES_KERNELS = re.compile(r"@kernel|\.bind\(")

FAMILY = "family"
"""Further places, beside modules, of the rules of a family's example."""

OF_A_FILE = "graph"
"""Family of networks that files list: its example is no file that there is."""

Told = Callable[[int, int], object]
"""Takes how many of how many are compiled."""


def everything() -> list[str]:
    """List all that can be compiled beforehand, what takes longest first.

    Returns
    -------
    list of str
        ``MODULE:NAME`` of kernels, ``family:NAME`` of families.
    """
    sizes = {name: _instructions(kernel) for name, kernel in _kernels()}
    longest_first = sorted(sizes, key=lambda name: (-sizes[name], name))
    families = [f"{FAMILY}:{name}" for name in FAMILIES if name != OF_A_FILE]
    return longest_first + families


def compile_one(name: str) -> str:
    """Compile and keep one of `everything`; return what is wrong, or an empty text."""
    from mpinet.compiler import objects

    wrong, kept_ones = [], kept()
    for code in _codes(name):
        if WATCH.has(code):
            continue
        try:
            make = roomy(
                partial(objects.made, code.description, code.fingerprint, [objects.host()])
            )
            kept_ones.add(code.fingerprint, make()[0])
        except Exception as error:  # it goes to another process: as a text, whatever it is
            wrong.append(f"{name}: {type(error).__name__}: {error}")
    return "; ".join(wrong)


def _codes(name: str) -> list[Any]:
    """Return the kernels and rules of one of `everything`."""
    place, _, what = name.partition(":")
    if place == FAMILY:
        return [getattr(rule, "rule", rule) for rule in _rules_of(what)]
    return [getattr(import_module(place), what)]


def compile_all(names: list[str], processes: int, told: Told = lambda _done, _all: None) -> str:
    """Compile several of `everything` in parallel; return what is wrong, or an empty text.

    Parameters
    ----------
    names : list of str
        What to compile.
    processes : int
        How many at a time.
    told : callable
        Called whenever one is compiled.
    """
    wrong = []
    # Fresh processes: a copy of this one would share its MPI, if it has loaded one.
    with own_children(), ProcessPoolExecutor(processes, get_context("spawn")) as pool:
        running = [pool.submit(compile_one, name) for name in names]
        for done, each in enumerate(as_completed(running), 1):
            wrong += [each.result()] if each.result() else []
            told(done, len(names))
    return "; ".join(sorted(wrong))


def _kernels() -> Iterator[tuple[str, Kernel]]:
    """List the kernels that can be compiled as they are, each by a module and a name there."""
    seen: set[int] = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        if not MAKES_KERNELS.search(path.read_text()):
            continue
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        module = import_module(".".join(parts).removesuffix(".__init__"))
        for name, value in vars(module).items():
            if isinstance(value, Kernel) and id(value) not in seen and not _has_stand_ins(value):
                seen.add(id(value))
                yield f"{module.__name__}:{name}", value


def _has_stand_ins(kernel: Kernel) -> bool:
    """Return whether something has to be bound to a kernel before it is one."""
    return any(
        "NotImplementedError" in each.function.__code__.co_names for each in kernel.compiled_in
    )


def _instructions(kernel: Kernel) -> int:
    """Return how much there is to compile, in bytes of Python's code."""
    return sum(
        {each.name: len(each.function.__code__.co_code) for each in kernel.compiled_in}.values()
    )


def _rules_of(family: str) -> Iterator[Any]:
    """List the rules that any machine of a family takes."""
    topology = open_topology(family_class(family).example)
    yield topology.neighbor
    yield topology.reverse_port
    routing = topology.routing()
    for each in (routing.start, routing.decide):
        if isinstance(each, Rule):
            yield each
