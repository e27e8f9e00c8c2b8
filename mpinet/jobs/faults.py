"""The words of ``--faults``: those of a command, or of a file."""

from __future__ import annotations

from mpinet.base.numerals import is_whole, quoted
from mpinet.errors import FileError, UsageError
from mpinet.machine.faults import Faults, Passing
from mpinet.networks.topology import Topology

MOST_READ = 1 << 26
"""Most characters of a file of faults: a device that has no end is refused, a pipe is not."""


def parse_faults(topology: Topology, text: str | None) -> Faults:
    """Read ``node:U,link:U-V,..``, or a file with such words on its lines.

    A word may end on the steps in which it is dead, ``@FROM`` or ``@FROM-TO`` (see `Passing`).

    Raises
    ------
    UsageError
        Something else stands there.
    """
    always, passing = _read(topology, text)
    nodes = [what[0] for what in always if len(what) == 1]
    links = [(what[0], what[1]) for what in always if len(what) == 2]
    return Faults(topology, nodes, links, passing)


def lasting_faults(topology: Topology, text: str | None) -> Faults:
    """Read what is dead throughout; refuse what dies at a step."""
    faults = parse_faults(topology, text)
    if faults.changes:
        raise UsageError("--faults with steps is for load: what is dead here is dead throughout.")
    return faults


def failures_of(topology: Topology, text: str | None) -> dict[int, int]:
    """Read ``node:U@STEP,..``: the step before which a processor with a script fails for good.

    Raises
    ------
    UsageError
        Something else stands there, or a switch.
    """
    always, passing = _read(topology, text)
    if always or any(len(each.what) != 1 or each.end is not None for each in passing):
        raise UsageError(f"--faults: {text!r} is not node:U@STEP, ..: processors fail for good.")
    found = {each.what[0]: each.begin for each in passing}
    for processor in found:
        if processor >= topology.hosts:
            name = topology.address(processor)
            raise UsageError(f"--faults: {name} is a switch, which runs no script.")
    return found


def _read(topology: Topology, text: str | None) -> tuple[list[tuple[int, ...]], list[Passing]]:
    """Read what is dead throughout, and what is in some steps."""
    # All words begin with the kind of what is dead. Any other text is the name of a file.
    if text is not None and not text.startswith(("node:", "link:")):
        text = ",".join(_words_in(text))
    always: list[tuple[int, ...]] = []
    passing = []
    for word in filter(None, (text or "").split(",")):
        name, at, when = word.partition("@")
        kind, _, where = name.partition(":")
        ends = where.split("-") if kind == "link" else [where]
        if kind not in ("node", "link") or len(ends) != 1 + (kind == "link") or not all(ends):
            raise UsageError(f"--faults: {word!r} is neither node:U nor link:U-V.")
        what, steps = tuple(map(topology.find, ends)), when.split("-")
        if not at:
            always.append(what)
        elif len(steps) <= 2 and all(map(is_whole, steps)):
            passing.append(Passing(what, *map(int, steps)))
        else:
            raise UsageError(
                f"--faults: {quoted(word)}: give the steps as @FROM, or @FROM-TO, TO being the one "
                "in which it is back."
            )
    return always, passing


def _words_in(name: str) -> list[str]:
    """Read the words of a file; refuse one that does not come to an end."""
    try:
        with open(name) as file:
            # The extra character tells a file that is too long from one that just fits.
            text = file.read(MOST_READ + 1)
    except (OSError, UnicodeDecodeError):
        raise FileError(f"--faults {name}: give node:U, link:U-V, .. or a file.") from None
    if len(text) > MOST_READ:
        raise FileError(
            f"--faults {name}: a file of faults has {MOST_READ} characters at most, and this one "
            "has more."
        )
    return text.split()
