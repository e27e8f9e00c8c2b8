"""Rules of the MPI standard (version 4.1) that a checked run tests."""

from __future__ import annotations

from typing import Final, NamedTuple

from mpinet.base.numerals import quoted

ERROR: Final = "error"
"""Severity of a finding that can hang, crash or give wrong data on some MPI library."""

WARNING: Final = "warning"
"""Severity of a finding that only wastes resources."""

CHECKS = (
    *("types", "requests", "handles", "buffers", "unreceived", "collectives", "sends"),
    *("arguments", "rma"),
)
"""Names of the checks that ``--check=LIST`` selects."""


FINDINGS = 3
"""Exit status of a run with errors among its findings, a deadlock or an MPI error."""


def checks_named(text: str) -> list[str]:
    """Return the checks of a list, joined by commas.

    Raises
    ------
    ValueError
        A name is unknown or missing; the message lists all names.
    """
    names = text.split(",")
    for name in names:
        if name not in CHECKS:
            raise ValueError(f"{quoted(name)} is no check; choose from {', '.join(CHECKS)}")
    return names


class Rule(NamedTuple):
    """A rule of the standard, and the report of a violation."""

    check: str
    """Check that tests the rule, one of `CHECKS`; empty if every checked run tests the rule."""
    section: str
    """Section of the standard."""
    said: str
    """Sentence on a violation. ``{0}`` and ``{1}`` stand for calls with their lines."""
    fix: str
    """Sentence on the correction."""
    severity: str = ERROR


RULES: dict[str, Rule] = {
    "type-mismatch": Rule(
        "types",
        "3.3.1",
        "{0} sends {sent}, but {1} expects {expected}",
        "Use the same datatypes in the same order on both sides.",
    ),
    "object-in-buffer": Rule(
        "types",
        "3.3.1",
        "{0} sends a pickled object, but {1} expects {expected}",
        "Receive with the lower-case call, or send with the upper-case call.",
    ),
    "buffer-as-object": Rule(
        "types",
        "3.3.1",
        "{0} sends {sent}, but {1} expects a pickled object",
        "Receive with the upper-case call, or send with the lower-case call.",
    ),
    "truncation": Rule(
        "types",
        "3.2.4",
        "{0} sends {sent}, but the buffer of {1} has room for {expected} only",
        "Enlarge the receive buffer, or probe for the size of the message.",
    ),
    "count-mismatch": Rule(
        "types",
        "6.1",
        "{0} contributes {sent}, but {1} expects {expected}",
        "Give the same amount of data at all members.",
    ),
    "request-not-completed": Rule(
        "requests",
        "3.7.3",
        "the request of {0} is never completed",
        "Complete the request with Wait or Test.",
    ),
    "request-freed-active": Rule(
        "requests",
        "3.7.3",
        "{1} frees the request of {0} before its completion",
        "Complete the request with Wait or Test instead.",
    ),
    "request-started-twice": Rule(
        "requests",
        "3.9",
        "{1} starts the request of {0} again before its completion",
        "Complete the request with Wait or Test before the next start.",
    ),
    "communicator-alive": Rule(
        "handles",
        "7.4.3",
        "a communicator of {0} is never freed",
        "Call Free when the communicator is no longer needed.",
        WARNING,
    ),
    "window-alive": Rule(
        "handles",
        "12.2.5",
        "a window of {0} is never freed",
        "Call Free on all members.",
        WARNING,
    ),
    "datatype-alive": Rule(
        "handles",
        "5.1.9",
        "a datatype of {0} is never freed",
        "Call Free when the datatype is no longer needed.",
        WARNING,
    ),
    "file-alive": Rule(
        "handles",
        "14.2.2",
        "a file of {0} is never closed",
        "Call Close on all members.",
        WARNING,
    ),
    "group-alive": Rule(
        "handles",
        "7.3.3",
        "a group of {0} is never freed",
        "Call Free when the group is no longer needed.",
        WARNING,
    ),
    "send-buffer-changed": Rule(
        "buffers",
        "3.7.2",
        "the send buffer of {0} changes before its completion in {1}",
        "Change the buffer only after Wait, or send a copy.",
    ),
    "receive-buffer-changed": Rule(
        "buffers",
        "3.7.2",
        "the receive buffer of {0} is written before its completion in {1}",
        "Use the buffer only after Wait.",
    ),
    "buffers-overlap": Rule(
        "buffers",
        "3.7.2",
        "{1} uses memory of {0}, which is not complete yet",
        "Complete the first call before the second, or use separate memory.",
    ),
    "aliased-buffers": Rule(
        "arguments",
        "2.3",
        "two buffers of {0} overlap, and one of them is written",
        "Use separate memory, or pass MPI.IN_PLACE if the call supports it.",
    ),
    "count-exceeds-buffer": Rule(
        "arguments",
        "3.2.2",
        "the count of {0} exceeds its buffer: {why}",
        "Enlarge the buffer, or reduce the count.",
    ),
    "invalid-argument": Rule(
        "arguments", "9.4", "{0} fails: {why}", "Correct the arguments of the call."
    ),
    "invalid-request": Rule(
        "requests", "3.7.3", "{0} fails: {why}", "Complete a request before its next use."
    ),
    "invalid-access": Rule(
        "rma", "12.5", "{0} fails: {why}", "Access only exposed memory, in an open epoch."
    ),
    "message-not-received": Rule(
        "unreceived",
        "11.2.2",
        "the message of {0} is never received",
        "Add the matching receive, or remove the send.",
    ),
    "matched-not-received": Rule(
        "unreceived",
        "3.8.2",
        "{1} matches the message of {0}, which is never received",
        "Receive the matched message with Recv or Irecv.",
    ),
    "collective-mismatch": Rule(
        "collectives",
        "6.14",
        "the members of a communicator call different collectives: {0} and {1}",
        "Call the same collective, with the same root, operator and amount, on all members.",
    ),
    "deadlock": Rule(
        "",
        "3.5",
        "processors wait for one another forever, for example in {0} and {1}",
        "Change the order of the calls, or use nonblocking calls.",
    ),
    "accesses-conflict": Rule(
        "rma",
        "12.7",
        "{0} and {1} access the same memory in one epoch ({why})",
        "Separate the accesses by a synchronization call.",
    ),
    "local-store-conflicts": Rule(
        "rma",
        "12.7",
        "{0} accesses memory of a window to which the owner stores in the same epoch, next to {1}",
        "Separate the local store from the access by a synchronization call.",
    ),
}
"""Rules by name."""

MOST_ALIVE = 16
"""Number of handles of one line that may be alive on a processor; more of them are an error."""
