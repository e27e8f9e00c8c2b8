"""Sources of messages: draws that can be repeated, so that waiting messages take no memory.

A message that is not yet in a slot exists only as part of a count. When it takes a slot, the draws
of the steps since the message before it are made again to find its step of birth.
"""

import numpy as np

from mpinet.compiled import part
from mpinet.draws import draw32, thrown
from mpinet.machine.faults import is_dead
from mpinet.machine.hop import next_port
from mpinet.machine.traffic.layout import BURST_STREAM, FLITS_STREAM, MIX_STREAM


@part
def turned(on, node, step, rules):
    """Tell if a burst is on in a step; `on` says whether it was in the step before."""
    # A two-state Markov chain per source. The draw is keyed by step, so skipped steps can be
    # replayed.
    word = draw32(rules.seed, node.number, step, BURST_STREAM)
    return word >= rules.off_below if on else word < rules.on_below


@part
def length_of(node, step, rules):
    """Length, in flits, of the message that a source generates in a step."""
    if rules.long_flits == 0:
        return rules.flits
    word = draw32(rules.seed, node.number, step, FLITS_STREAM)
    return rules.long_flits if word < rules.long_below else rules.flits


@part
def following_birth(born, node, rules):
    """Step in which the next message after that of step `born` is generated."""
    # A burst was on at step `born`, for a message was born there; its later states follow from the
    # draws.
    on, step = True, born
    while True:
        step += 1
        if rules.bursty:
            on = turned(on, node, step, rules)
        if on and comes(node, step, rules):
            return step


@part
def rank_of(seed, node, step, bounds):
    """Return which of a mix's patterns the message is of that a processor generates in a step."""
    # A stream of its own: priorities stay independent of births and targets.
    word, rank = draw32(seed, node, step, MIX_STREAM), 0
    while rank < bounds.size and word >= bounds[rank]:
        rank += 1
    return rank


@part
def comes(node, step, rules):
    """Tell if a source without bursts generates a message in a step."""
    return thrown(np.int64(node.dice), step) < rules.generating


@part
def is_among(node, dead):
    """Tell if a processor is dead."""
    return is_dead(node, dead)


@part
def way_on(decide, node, header, params, dead, cut, neighbor, wired):
    """Return the port by which a message leaves, around faults, or `ARRIVED`, or `STUCK`."""
    return next_port(decide, node, header, params, True, dead, cut, neighbor, wired)
