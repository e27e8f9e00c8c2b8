"""Lines of users' CSV files: traces, pairs of processors, places of nodes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from mpinet.base.arrays import Ints
from mpinet.base.csvlines import csv_lines
from mpinet.base.numerals import is_whole
from mpinet.errors import UsageError
from mpinet.networks.topology import Topology
from mpinet.programs.collective import require_processor


def processor_named(topology: Topology, text: str, where: str) -> int:
    """Return the processor with this number or address.

    Parameters
    ----------
    topology : Topology
        The network.
    text : str
        A number or an address.
    where : str
        Start of an error message: the file or option that names the processor.

    Raises
    ------
    NodeError, UsageError
        The node does not exist, or is a switch.
    """
    node = topology.find(text)
    if node >= topology.hosts:
        raise UsageError(
            f"{where}: node {node} of {topology.name} is a switch; processors are "
            f"0..{topology.hosts - 1}."
        )
    return node


def processors_numbered(topology: Topology, words: Iterable[str]) -> list[int]:
    """Return the numbers of processors, given as texts.

    Raises
    ------
    NodeError, UsageError
        A node does not exist, or is a switch.
    """
    numbers = [*map(int, words)]
    for number in numbers:
        require_processor(topology, number)
    return numbers


def read_pairs(topology: Topology, path: Path) -> Ints:
    """Read the lines ``source,target`` of a file; a first line of words is a heading.

    Returns
    -------
    ndarray of int64, shape (k, 2)
        Sources and targets; a file names a node by number or address.
    """
    rows = csv_lines(path)
    if rows and rows[0][:2] == ["source", "target"]:
        rows = rows[1:]
    pairs = np.empty((len(rows), 2), np.int64)
    for number, row in enumerate(rows):
        if len(row) != 2:
            raise UsageError(f"{path}: {','.join(row)!r} is not a line 'source,target'.")
        pairs[number] = [processor_named(topology, field, str(path)) for field in row]
    return pairs


def read_places(topology: Topology, path: Path) -> Ints:
    """Read the lines ``node,x,y,..`` of a file; a first line of words is a heading.

    Returns
    -------
    ndarray of int64, shape (size, d)
        Integer coordinates of every node.

    Raises
    ------
    UsageError
        A line is invalid, or a node has no line.
    """
    rows = csv_lines(path)
    rows = rows[1:] if rows and rows[0][0] == "node" else rows
    width = len(rows[0]) if rows else 2
    found: dict[int, list[int]] = {}
    for row in rows:
        if len(row) != width or width < 2 or not all(map(is_whole, row[1:])):
            raise UsageError(
                f"{path}: {','.join(row)!r} is not a line 'node,x,y,..' of whole numbers, as many "
                "in each line."
            )
        place = found[topology.find(row[0])] = [int(field) for field in row[1:]]
        if max(place) >= 2**31:
            raise UsageError(f"{path}: {','.join(row)!r}: a coordinate is below 2^31.")
    if len(found) < topology.size or len(rows) > topology.size:
        raise UsageError(
            f"{path}: {len(rows)} lines place {len(found)} of the {topology.size} nodes of "
            f"{topology.name}: give a line for each."
        )
    return np.array([found[node] for node in range(topology.size)], np.int64)
