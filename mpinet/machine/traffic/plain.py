"""Plain runs: features excluded by the settings are not compiled.

Most runs use wormhole switching with the rotating policy, one flit per input and output in a step,
and random messages of one length. For these runs the kernel's rules contain constants. LLVM then
drops the other features, and a step is a seventh faster.
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

_named: Any = namedtuple  # type checkers expect literal names

Plain = _named("Plain", TrafficConstants.dtype.names or ())
"""The fields of `TrafficConstants`, where `CONSTANTS` are compiled in."""


@part
def any_rules(rules):
    """Return the rules of a run unchanged."""
    return rules


def _with_constants() -> Any:
    """Return the function that converts a run's rules to the rules of a plain run."""
    given = (
        f"{name}={CONSTANTS.get(name, f'rules.{name}')}"
        for name in TrafficConstants.dtype.names or ()
    )
    made = eval(f"lambda rules: Plain({', '.join(given)})", {"Plain": Plain, "__name__": __name__})
    made.__name__ = made.__qualname__ = "plain_rules"
    return made


plain_rules = part(_with_constants())
"""Function that returns the rules of a plain run."""


def is_plain(rules: TrafficConstants) -> bool:
    """Return True if a run's rules are the rules of a plain run."""
    # Compared field by field with the constants in the kernel: a different constant would change
    # results silently.
    own: Any = rules
    return all(own[name] == value for name, value in CONSTANTS.items())
