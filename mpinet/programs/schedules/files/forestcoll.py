"""ForestColl's XML: trees, each with a root, along which the root's chunks go to all."""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise

import numpy as np

from mpinet.base.markup import Element
from mpinet.base.numerals import quoted
from mpinet.errors import UsageError
from mpinet.programs.schedules.files.schedulefile import (
    MOST_ROWS,
    ReadingOptions,
    number_of,
    require_purpose,
)
from mpinet.programs.schedules.files.timing import Tasks, timed
from mpinet.programs.schedules.timetable import Timetable

Hops = list[tuple[int, int, int]]
"""Hops of a tree: depth, from, to; in an order in which every sender has it before."""


def read_forestcoll(document: Element, reading: ReadingOptions) -> Timetable:
    """The timetable of trees: hops are timed by round, depth and chunk.

    Raises
    ------
    UsageError
        The file is no such one.
    """
    trees = [document] if document.tag == "tree" else document.all("tree")
    read = [_tree(tree) for tree in trees]
    roots = sorted({root for root, _, _ in read})
    per = {root: sum(count for other, count, _ in read if other == root) for root in roots}
    if len(set(per.values())) != 1:
        raise UsageError("the roots' trees have different numbers of chunks.")
    name = reading.collective or "gossip"
    if name not in ("gossip", "broadcast") or (name == "broadcast" and len(roots) > 1):
        raise UsageError(f"trees of {len(roots)} roots are for a gossip, not for a {name}.")
    chunks = per[roots[0]] * reading.rounds
    root = roots[0] if name == "broadcast" else None
    name, hosts, chunks, root = require_purpose(name, reading.processors, chunks, root)
    first: dict[int, int] = defaultdict(int)
    hops = []
    for owner, count, tree in read:
        begin, first[owner] = first[owner], first[owner] + count
        base = (0 if name == "broadcast" else owner * chunks) + begin
        for turn in range(reading.rounds):
            for j in range(count):
                chunk = base + turn * per[owner] + j
                hops += [(turn, depth, chunk, sender, to) for depth, sender, to in tree]
        if len(hops) > MOST_ROWS:
            raise UsageError(f"it has more than {MOST_ROWS} hops.")
    steps = _steps(hops := sorted(hops), reading)
    columns = np.array(hops, np.int64).reshape(-1, 5).T.copy()
    return Timetable(
        name, hosts, np.array(steps, np.int64), columns[3], columns[4], columns[2], chunks, root
    )


def _tree(element: Element) -> tuple[int, int, Hops]:
    """Root, chunks and hops of one tree."""
    try:
        root = number_of(element.attributes, "root")
        chunks = number_of(element.attributes, "nchunks", 1)
        if root < 0 or not 1 <= chunks <= MOST_ROWS:
            raise UsageError("root and nchunks are not negative, and there is a chunk.")
    except UsageError as error:
        raise UsageError(f"line {element.line}: {error}") from None
    depth, hops = {root: 0}, []
    for send in element.all("send"):
        path = _path(send)
        for sender, receiver in pairwise(path):
            if sender not in depth:
                raise UsageError(
                    f"line {send.line}: {sender} sends before anything has come to it from {root}."
                )
            if receiver in depth:
                if (depth[receiver], sender, receiver) in hops:
                    continue  # a switch that multiplies what has come this way
                raise UsageError(f"line {send.line}: {receiver} gets the same chunk twice.")
            depth[receiver] = depth[sender] + 1
            hops.append((depth[receiver], sender, receiver))
    return root, chunks, hops


def _path(send: Element) -> list[int]:
    """The nodes that a send goes over."""
    nodes = (
        send.attributes.get("path") or f"{send.attributes.get('src')},{send.attributes.get('dst')}"
    )
    try:
        return [number_of({"path": word}, "path") for word in nodes.split(",")]
    except UsageError:
        raise UsageError(
            f"line {send.line}: a path is the numbers of nodes with commas, not {quoted(nodes)}."
        ) from None


def _steps(hops: list[tuple[int, int, int, int, int]], reading: ReadingOptions) -> list[int]:
    """Time the hops: each after the one that brought its chunk."""
    tasks, brought = Tasks(), dict[tuple[int, int], int]()
    for _, _, chunk, sender, receiver in hops:
        task = tasks.add(f"chunk {chunk} from {sender}", sender, receiver)
        if (chunk, sender) in brought:
            tasks.after(task, brought[chunk, sender])
        brought[chunk, receiver] = task
    return timed(tasks, reading)[0]
