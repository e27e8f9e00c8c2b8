"""Sources of messages: draws that can be repeated, so that waiting messages take no memory.

A message that is not yet in a slot exists only as part of a count. When it takes a slot, the draws
of the steps since the message before it are made again to find its step of birth.
"""

from mpinet.compiled import part
from mpinet.draws import draw32, thrown
from mpinet.machine.faults import is_dead
from mpinet.machine.hop import next_port
from mpinet.machine.traffic.layout import BURST_STREAM, FLITS_STREAM, MIX_STREAM


@part
def turned(on, seed, node, step, on_below, off_below):
    """Tell if a burst is on in a step; `on` says whether it was in the step before."""
    word = draw32(seed, node, step, BURST_STREAM)
    return word >= off_below if on else word < on_below


@part
def flits_of(seed, node, step, short, long, long_below):
    """Length, in flits, of the message that a processor generates in a step."""
    if long > 0 and draw32(seed, node, step, FLITS_STREAM) < long_below:
        return long
    return short


@part
def following_birth(born, dice, generating, bursty, seed, node, on_below, off_below):
    """Step in which the next message after that of step `born` is generated."""
    on, step = True, born
    while True:
        step += 1
        if bursty:
            on = turned(on, seed, node, step, on_below, off_below)
            if not on:
                continue
        if thrown(dice, step) < generating:
            return step


@part
def rank_of(seed, node, step, bounds):
    """Return which of a mix's patterns the message is of that a processor generates in a step."""
    word, rank = draw32(seed, node, step, MIX_STREAM), 0
    while rank < bounds.size and word >= bounds[rank]:
        rank += 1
    return rank


@part
def comes(dice, step, generating):
    """Tell if a processor generates a message in a step."""
    return thrown(dice, step) < generating


@part
def is_among(node, dead):
    """Tell if a processor is dead."""
    return is_dead(node, dead)


@part
def way_on(decide, node, header, params, dead, cut, neighbor, wired):
    """Return the port by which a message leaves, around faults, or `ARRIVED`, or `STUCK`."""
    return next_port(decide, node, header, params, True, dead, cut, neighbor, wired)
