"""Plain runs: what their settings rule out is not compiled.

Most runs are of wormhole switching with turns, one flit of an input and an output in a step, and
messages of one length that are drawn. Where a kernel's rules are these constants, LLVM drops
everything else from a step, which is a seventh faster for it.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from mpinet.compiled import part
from mpinet.machine.traffic.layout import ROTATING, WORMHOLE, TrafficConstants

CONSTANTS: dict[str, Any] = {
    "words": 1, "switching": WORMHOLE, "policy": ROTATING, "one_input": True, "one_eject": True,
    "keeps": False, "inputs": 1, "at_once": 1, "queue": 0, "iterations": 1, "bubble": False,
    "router_delay": 0, "long_flits": 0, "long_below": 0, "bursty": False, "on_below": 0,
    "off_below": 0, "traced": False, "replying": False, "reply_flits": 0, "service": 1,
    "outstanding": 0, "batch": 0, "phases": 1, "programmed": False, "priorities": 1,
}  # fmt: skip
"""Fields of `TrafficConstants` that are the same in all plain runs."""

_named: Any = namedtuple  # whose names are not written here, as a checker of types expects

Plain = _named("Plain", TrafficConstants.dtype.names or ())
"""The fields of `TrafficConstants`, of which `CONSTANTS` are constants."""


@part
def any_rules(rules):
    """Return the rules of a run as they are."""
    return rules


def _with_constants() -> Any:
    """Return the function that makes the rules of a plain run of a run's."""
    given = (
        f"{name}={CONSTANTS.get(name, f'rules.{name}')}"
        for name in TrafficConstants.dtype.names or ()
    )
    made = eval(f"lambda rules: Plain({', '.join(given)})", {"Plain": Plain, "__name__": __name__})
    made.__name__ = made.__qualname__ = "plain_rules"
    return made


plain_rules = part(_with_constants())
"""Returns the rules of a plain run."""


def is_plain(rules: TrafficConstants) -> bool:
    """Return whether a run's rules are those of a plain run."""
    # Compared field by field with what the kernel was compiled for: a constant that differs would
    # change results silently.
    own: Any = rules
    return all(own[name] == value for name, value in CONSTANTS.items())
