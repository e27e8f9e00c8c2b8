"""ForestColl's XML: trees that carry their roots' chunks to all processors."""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import pairwise

from mpinet.base.markup import Element, parse_xml
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.files.nodes import numbered
from mpinet.programs.schedules.files.schedulefile import (
    MOST_ROWS,
    Contents,
    ReadingOptions,
    number_of,
    require_purpose,
)
from mpinet.programs.schedules.files.timing import Tasks, timed_rows

Hops = list[tuple[int, str, str]]
"""Hops of a tree: depth, from, to. Every sender receives the chunk before its own sends."""

BETWEEN = re.compile(r",(?![^(]*\))")
"""Commas between the nodes of a path; a node may be a tuple with its own commas."""


def read_forestcoll(data: bytes, reading: ReadingOptions) -> Contents:
    """Return the timetable of trees; hops are timed by round, depth and chunk.

    Raises
    ------
    UsageError
        The file is not in this format.
    """
    document = parse_xml(data)
    trees = [document] if document.tag == "tree" else document.all("tree")
    read = [_tree(tree) for tree in trees]
    names = {end for _, _, tree in read for _, *ends in tree for end in ends}
    numbers = _numbers(names, {root for root, _, _ in read}, reading)
    roots = sorted({numbers[root] for root, _, _ in read})
    per = {root: sum(count for other, count, _ in read if numbers[other] == root) for root in roots}
    if len(set(per.values())) != 1:
        raise UsageError("the roots' trees have different numbers of chunks.")
    name = reading.collective or "gossip"
    if name not in ("gossip", "broadcast") or (name == "broadcast" and len(roots) > 1):
        raise UsageError(f"trees of {len(roots)} roots are for a gossip, not for a {name}.")
    chunks = per[roots[0]] * reading.rounds
    root = roots[0] if name == "broadcast" else None
    purpose = require_purpose(name, reading.processors, chunks, root)
    first: dict[int, int] = defaultdict(int)
    hops = []
    for named, count, tree in read:
        owner = numbers[named]
        begin, first[owner] = first[owner], first[owner] + count
        base = (0 if name == "broadcast" else owner * chunks) + begin
        for turn in range(reading.rounds):
            for j in range(count):
                chunk = base + turn * per[owner] + j
                hops += [
                    (turn, depth, chunk, numbers[sender], numbers[to]) for depth, sender, to in tree
                ]
        if len(hops) > MOST_ROWS:
            raise UsageError(f"the trees have more than {MOST_ROWS} hops.")
    hops.sort()
    return timed_rows(_tasks(hops), reading, purpose, [chunk for _, _, chunk, *_ in hops])


def _numbers(names: set[str], roots: set[str], reading: ReadingOptions) -> dict[str, int]:
    """Return the nodes' numbers: numeric names, otherwise by the network or in order."""
    if all(re.fullmatch(r"[0-9]{1,9}", name) for name in names | roots):
        return {name: int(name) for name in names | roots}
    return numbered(names, roots, reading)


def _tree(element: Element) -> tuple[str, int, Hops]:
    """Return root, chunks and hops of one tree."""
    try:
        root = _node(element.attributes.get("root", ""))
        chunks = number_of(element.attributes, "nchunks", 1)
        if not 1 <= chunks <= MOST_ROWS:
            raise UsageError("there is a chunk.")
    except UsageError as error:
        raise UsageError(f"line {element.line}: {error}") from None
    depth, hops = {root: 0}, dict[tuple[int, str, str], None]()
    for send in element.all("send"):
        path = _path(send)
        for sender, receiver in pairwise(path):
            if sender not in depth:
                raise UsageError(
                    f"line {send.line}: {sender} sends before receiving anything from {root}."
                )
            hop = depth[sender] + 1, sender, receiver
            # A switch on the path may receive the chunk again, or copy the earlier one.
            if receiver in depth and hop not in hops and receiver == path[-1]:
                raise UsageError(f"line {send.line}: {receiver} gets the same chunk twice.")
            depth.setdefault(receiver, hop[0])
            hops[hop] = None
    return root, chunks, [*hops]


def _path(send: Element) -> list[str]:
    """Return the nodes of a send's path."""
    given = send.attributes
    nodes = given.get("path") or f"{given.get('src')},{given.get('dst')}"
    try:
        return [_node(word) for word in BETWEEN.split(nodes)]
    except UsageError:
        raise UsageError(
            f"line {send.line}: a path is the numbers of nodes, or tuples in brackets, with "
            f"commas, not {quoted(nodes)}."
        ) from None


def _node(word: str) -> str:
    """Return a node's name: a number, or a tuple such as ``(0, 'GPU', 3)``."""
    word = word.strip()
    if not re.fullmatch(r"[0-9]{1,9}|\([\w ,'\"-]{1,100}\)", word):
        raise UsageError(f"{quoted(word)} is not a node.")
    return word


def _tasks(hops: list[tuple[int, int, int, int, int]]) -> Tasks:
    """Return the sends as tasks: each waits for the send that brought its chunk."""
    tasks, brought = Tasks(), dict[tuple[int, int], int]()
    for _, _, chunk, sender, receiver in hops:
        task = tasks.add(f"chunk {chunk} from {sender}", sender, receiver)
        if (chunk, sender) in brought:
            tasks.after(task, brought[chunk, sender])
        brought.setdefault((chunk, receiver), task)
    return tasks
