"""Costs and findings of ``mpinet exec``, for the document and for the printed result."""

from __future__ import annotations

from mpinet.report.rows import Row
from mpinet.report.tables import table

COSTS = ("calls", "messages", "hops", "bytes", "steps")
"""Costs of a kind of call, or of the calls on a line."""

SHOWN = 24
"""Largest number of script lines with printed costs."""


HOT = ("busiest_links", "longest_queues", "waits", "waiting")
"""Result fields about the slow parts of a script."""


def hot_tables(result: Row) -> str:
    """Format the slow parts of a script: links, queues, waiting times by line and by processor."""
    links = [
        (_link(row), str(row["messages"]), _loading(row["loaded_by"]))
        for row in result["busiest_links"]
    ]
    waits = [
        (_place(row), row["call"], str(row["steps"]), f"{row['longest']} at {row['processor']}")
        for row in result["waits"][:SHOWN]
    ]
    queues = [tuple(map(str, row.values())) for row in result["longest_queues"]]
    waiting = [tuple(map(str, row.values())) for row in result["waiting"]]
    return "\n\n".join(
        table(rows, heading)
        for rows, heading in (
            (links, ("busiest link", "messages", "loaded by")),
            (queues, ("queue at", "messages", "step")),
            (waits, ("waits at", "call", "steps", "longest")),
            (waiting, ("processor", "steps in calls")),
        )
        if rows
    )


def _link(row: Row) -> str:
    """Format a link in one direction, or a node's port to a bus."""
    return f"{row['node']}-{row['to']}" if "to" in row else f"{row['node']} port {row['port']}"


def _loading(loads: list[Row]) -> str:
    """Format the lines that load a link."""
    return ", ".join(f"{_place(row)} {row['call']} {row['messages']}" for row in loads)


def _place(row: Row) -> str:
    """Format a line of a script."""
    return f"{row['file']}:{row['line']}"


def kinds_table(kinds: list[Row]) -> str:
    """Format the costs of each kind of call, the most expensive first."""
    return table([(kind["call"], *_cells(kind)) for kind in kinds], ("call", *COSTS))


def lines_table(calls: list[Row]) -> str:
    """Format the costs of the most expensive lines, in the order of the script."""
    # Lines are selected by cost, and listed in the order of the script.
    costliest = sorted(calls, key=lambda call: (-call["steps"], -call["hops"], -call["calls"]))
    shown = costliest[:SHOWN]
    rows = [
        (f"{call['file']}:{call['line']}", call["call"], *_cells(call))
        for call in calls
        if call in shown
    ]
    rest = len(calls) - len(rows)
    more = f"\n.. and {rest} more lines of lower or equal cost" if rest else ""
    return f"{table(rows, ('line', 'call', *COSTS))}{more}"


def conflicts_text(conflicts: list[Row]) -> str:
    """Format conflicting accesses, one per line."""
    lines = [
        f"  {row['first_file']}:{row['first_line']} and {row['other_file']}:{row['other_line']}: "
        f"{row['accesses']} of bytes {row['bytes'][0]} to {row['bytes'][1] - 1} "
        f"of processor {row['processor']}" + (f", {row['times']} times" * (row["times"] > 1))
        for row in conflicts[:SHOWN]
    ]
    rest = len(conflicts) - len(lines)
    more = [f"  .. and {rest} more"] if rest else []
    heading = "conflicting accesses in one epoch, in an order that MPI leaves undefined:"
    return "\n".join([heading, *lines, *more])


def open_text(receives: list[Row]) -> str:
    """Format receives for which another message could have matched, one per line."""
    lines = [
        f"  {row['file']}:{row['line']} {row['call']}: one of {row['most']} at most, "
        + ("once" if row["times"] == 1 else f"{row['times']} times")
        for row in receives[:SHOWN]
    ]
    more = [f"  .. and {len(receives) - SHOWN} more"] if len(receives) > SHOWN else []
    return "\n".join(["receives for which another message could have matched:", *lines, *more])


def orders_text(orders: Row) -> str:
    """Format the outcome of the runs in all orders."""
    runs = "1 order was run" if orders["tried"] == 1 else f"{orders['tried']} orders were run"
    if orders["order"]:
        return f"{runs}: the outcome of the last one differs ({orders['outcome']})."
    rest = "there is no other." if orders["all"] else "there are more: --most-orders."
    return f"{runs}, with the same outcome; {rest}"


def _cells(row: Row) -> list[str]:
    """Return the cells of a row of costs."""
    return [str(row[name]) for name in COSTS]
