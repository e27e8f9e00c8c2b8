"""Plain runs: what their settings rule out is not compiled.

Most runs are of wormhole switching with turns, one flit of an input and an output in a step, and
messages of one length that are drawn. Where a kernel's rules are these constants, LLVM drops
everything else from a step, which is a seventh faster for it.
"""

from __future__ import annotations

from collections import namedtuple
from typing import Any

from mpinet.compiled import part
from mpinet.machine.traffic.layout import ROTATING, WORMHOLE, Rules

_named: Any = namedtuple  # whose names are not written here, as a checker of types expects

Plain = _named("Plain", Rules.dtype.names or ())
"""The fields of `Rules`; some are constants."""


@part
def any_rules(rules):
    """Return the rules of a run as they are."""
    return rules


@part
def plain_rules(rules):
    """Return the rules of a plain run."""
    return Plain(
        nodes=rules.nodes,
        ports=rules.ports,
        hosts=rules.hosts,
        hops_most=rules.hops_most,
        rank=rules.rank,
        ranks=rules.ranks,
        margin=rules.margin,
        vcs=rules.vcs,
        vcs_of_class=rules.vcs_of_class,
        classes=rules.classes,
        classed=rules.classed,
        lanes=rules.lanes,
        words=1,
        buffer=rules.buffer,
        switching=WORMHOLE,
        policy=ROTATING,
        one_input=True,
        one_eject=True,
        keeps=False,
        inputs=1,
        at_once=1,
        queue=0,
        iterations=1,
        bubble=False,
        delay=rules.delay,
        quiet=rules.quiet,
        router_delay=0,
        warmup=rules.warmup,
        window_end=rules.window_end,
        limit=rules.limit,
        seed=rules.seed,
        generating=rules.generating,
        flits=rules.flits,
        long_flits=0,
        long_below=0,
        bursty=False,
        on_below=0,
        off_below=0,
        traced=False,
        numbered=rules.numbered,
        sees=rules.sees,
        told=rules.told,
        eager=rules.eager,
        replying=False,
        reply_flits=0,
        service=1,
        outstanding=0,
        batch=0,
        phases=1,
        programmed=False,
        priorities=1,
    )


def is_plain(rules: Rules) -> bool:
    """Return whether a run's rules are those of a plain run."""
    own: Any = rules
    return all(own[name] == value for name, value in plain_rules(rules)._asdict().items())
