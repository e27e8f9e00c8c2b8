"""Read the words of ``--faults``, from the command line or from a file."""

from __future__ import annotations

from mpinet.base.numerals import is_whole, quoted
from mpinet.errors import FileError, UsageError
from mpinet.machine.faults import Faults, Passing
from mpinet.networks.topology import Topology

MOST_READ = 1 << 26
"""Largest size of a file of faults, in characters; an endless device is an error, a pipe is not."""


def parse_faults(topology: Topology, text: str | None) -> Faults:
    """Read ``node:U,link:U-V,bus:B,..``, or a file with these words on its lines.

    A word may end with the steps of the fault, ``@FROM`` or ``@FROM-TO`` (see `Passing`).

    Raises
    ------
    UsageError
        A word is invalid.
    """
    always, passing, busses = _read(topology, text)
    nodes = [what[0] for what in always if len(what) == 1]
    links = [(what[0], what[1]) for what in always if len(what) == 2]
    return Faults(topology, nodes, links, passing, busses)


def lasting_faults(topology: Topology, text: str | None) -> Faults:
    """Read permanent faults; raise an error for a fault that begins at a step."""
    faults = parse_faults(topology, text)
    if faults.changes:
        raise UsageError("--faults: only load takes faults with steps.")
    return faults


def failures_of(topology: Topology, text: str | None) -> dict[int, int]:
    """Read ``node:U@STEP,..``: the step before which each processor of a script fails for good.

    Raises
    ------
    UsageError
        A word is invalid, or names a switch.
    """
    always, passing, busses = _read(topology, text)
    if always or busses or any(len(each.what) != 1 or each.end is not None for each in passing):
        raise UsageError(f"--faults: {text!r} is not node:U@STEP, ..: failures are permanent.")
    found = {each.what[0]: each.begin for each in passing}
    for processor in found:
        if processor >= topology.hosts:
            name = topology.address(processor)
            raise UsageError(f"--faults: {name} is a switch, not a processor of the script.")
    return found


def refuse_busses(faults: Faults) -> Faults:
    """Return the faults; raise `UsageError` for a dead bus."""
    if faults.busses:
        raise UsageError("--faults: only route takes dead busses.")
    return faults


def _read(
    topology: Topology, text: str | None
) -> tuple[list[tuple[int, ...]], list[Passing], list[int]]:
    """Read permanent faults, transient faults and dead busses."""
    # All words begin with node:, link: or bus:. Any other text is the name of a file.
    if text is not None and not text.startswith(("node:", "link:", "bus:")):
        text = ",".join(_words_in(text))
    always: list[tuple[int, ...]] = []
    passing, busses = [], []
    for word in filter(None, (text or "").split(",")):
        name, at, when = word.partition("@")
        kind, _, where = name.partition(":")
        if kind == "bus" and where and not at:
            busses.append(_bus(topology, where))
            continue
        ends = where.split("-") if kind == "link" else [where]
        if kind not in ("node", "link") or len(ends) != 1 + (kind == "link") or not all(ends):
            raise UsageError(f"--faults: {word!r} is none of node:U, link:U-V and bus:B.")
        what, steps = tuple(map(topology.find, ends)), when.split("-")
        if not at:
            always.append(what)
        elif len(steps) <= 2 and all(map(is_whole, steps)):
            passing.append(Passing(what, *map(int, steps)))
        else:
            raise UsageError(
                f"--faults: {quoted(word)}: give the steps as @FROM or @FROM-TO, where step TO is "
                "the first one without the fault."
            )
    return always, passing, busses


def _bus(topology: Topology, text: str) -> int:
    """Return the bus with this number or address."""
    if is_whole(text):
        return int(text)
    read = getattr(topology, "bus", None)
    if read is None:
        raise UsageError(f"--faults: {topology.name} has no bus {quoted(text)}.")
    found: int = read(text)
    return found


def _words_in(name: str) -> list[str]:
    """Read the words of a file; raise an error for a file without end."""
    try:
        with open(name) as file:
            # The additional character distinguishes a file above the limit from a file at the
            # limit.
            text = file.read(MOST_READ + 1)
    except (OSError, UnicodeDecodeError):
        raise FileError(f"--faults {name}: give node:U, link:U-V, bus:B, .. or a file.") from None
    if len(text) > MOST_READ:
        raise FileError(f"--faults {name}: the file has more than {MOST_READ} characters.")
    return text.split()
