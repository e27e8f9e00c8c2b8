"""Mesh and torus: products of paths and of rings, numbered row-major, with dimension-order routing.

Numbering, ports and routing as in docs/papers/hdn, 3, 4 and 9. In a torus, a side of two has one
link and thus one port. In a mesh every side has two ports, absent at the borders.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

import numpy as np

from mpinet.compiled import inlined, rule
from mpinet.errors import TopologyError
from mpinet.networks.adaptive import CLASS, PORT
from mpinet.networks.arithmetic import inverse, quotient
from mpinet.networks.bubble import ring_classes
from mpinet.networks.classes import Choices
from mpinet.networks.classic.ring import (
    MINUS,
    PLUS,
    crosses,
    parity_way_round,
    ring_broadcast_steps,
    ring_send,
    way_round,
)
from mpinet.networks.cycle import Cycle
from mpinet.networks.lattice import DOWN, RIGHT, UP, turn_in_grid
from mpinet.networks.parameters import Parameter, require_integer, sizes, whole_number
from mpinet.networks.routing import ARRIVED, Routing, above_escape, shortest_routings
from mpinet.networks.schedule import Schedule
from mpinet.networks.topology import Topology, numbered

DIMENSIONS = 2
"""Place of the number of dimensions in the rules' parameters; the ports' records follow."""

PORT_RECORD, LINE_RECORD = 6, 5
"""Words per record of a port, and per record of a dimension; records of dimensions come last."""

SIDE, OVER_STRIDE, OVER_SIDE = 1, 2, 3
"""Places in both records: the dimension's side and the two `inverse`s; the stride comes first."""

STEP, REVERSE = 4, 5
"""Places in a port's record: its step (1 or -1) and its reverse port."""

FIRST_PORT = 4
"""Place in a dimension's record: its first port."""


@rule
def opposite_port(node, port, params):
    """Return the port in the other direction of the same dimension."""
    return params[DIMENSIONS + 1 + PORT_RECORD * port + REVERSE]


@rule
def decide_mesh(node, header, params):
    """Return the port towards the target in the lowest dimension that differs."""
    if node == header[0]:
        return ARRIVED
    line, offset = differing_line(node, header[0], params)
    return params[line + FIRST_PORT] + (PLUS if offset > 0 else MINUS)


@rule
def decide_torus(node, header, params):
    """Return the port of the shorter direction in the lowest dimension that differs."""
    if node == header[0]:
        return ARRIVED
    line, offset = differing_line(node, header[0], params)
    side = params[line + SIDE]
    return params[line + FIRST_PORT] + way_round(offset if offset > 0 else offset + side, side)


@rule
def decide_torus_by_parity(node, header, params):
    """Return the port as `decide_torus`; a tie goes forward from even coordinates."""
    if node == header[0]:
        return ARRIVED
    line, offset = differing_line(node, header[0], params)
    side = params[line + SIDE]
    ahead = offset if offset > 0 else offset + side
    place = coordinate(node, line, params)
    return params[line + FIRST_PORT] + parity_way_round(ahead, side, place)


class Grid(Topology):
    """Base of mesh and torus: sides, coordinates, and the records of ports and dimensions."""

    def __init__(self, SIDES: Sequence[int], directions: Sequence[int], stated: dict[str, int]):
        require_sides(self.family, SIDES)
        self.sides = self.radices = tuple(SIDES)
        self.strides = tuple(prod(self.sides[j + 1 :]) for j in range(len(self.sides)))
        size = prod(self.sides)
        ports: list[int] = []
        lines: list[int] = []
        for side, stride, count in zip(self.sides, self.strides, directions, strict=True):
            first = len(ports) // PORT_RECORD
            # Divisions by strides and sides are most of a grid rule's work. Their inverses are
            # parameters, which turns divisions into multiplications.
            line = [stride, side, inverse(stride, size), inverse(side, size)]
            lines += [*line, first]
            for direction in range(count):
                ports += [*line, 1 - 2 * direction, first + count - 1 - direction]
        super().__init__(
            "x".join(map(str, self.sides)),
            size=size,
            ports=len(ports) // PORT_RECORD,
            params=[len(self.sides), *ports, *lines],
            stated=stated,
            link_classes=numbered("dimension", len(self.sides)),
        )

    @rule
    def link_class(node, port, params):
        """Return the port's dimension."""
        lines = DIMENSIONS + 1 + PORT_RECORD * params[1]
        dimension = params[DIMENSIONS] - 1
        while params[lines + LINE_RECORD * dimension + FIRST_PORT] > port:
            dimension -= 1
        return dimension

    @property
    def coordinates(self) -> tuple[tuple[int, int], ...]:
        """Strides and sides of the dimensions, row-major."""
        return tuple(zip(self.strides, self.sides, strict=True))


class Mesh(Grid):
    """Mesh of any number of dimensions; per dimension a port +1 and a port -1."""

    parameters = (Parameter("SIDES", "sides >= 2 joined by x", sizes),)
    example = "mesh:8x8"
    paper = "textbook"
    specification = "papers/hdn 9"
    default_classes = "none"

    def __init__(self, SIDES: Sequence[int]):
        super().__init__(SIDES, [2] * len(SIDES), {"diameter": sum(SIDES) - len(SIDES)})

    @rule
    def neighbor(node, port, params):
        """Return the next processor in the port's dimension; -1 beyond the border."""
        at = DIMENSIONS + 1 + PORT_RECORD * port
        stride, side, step = params[at], params[at + SIDE], params[at + STEP]
        moved = coordinate(node, at, params) + step
        return -1 if moved < 0 or moved == side else node + step * stride

    reverse_port = opposite_port

    routings = shortest_routings(dimensions=decide_mesh)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Minimal adaptive routing for open-loop traffic, with dimension order as the escape."""
        return super().load_routings | {
            "adaptive": above_escape(self, "adaptive", closer_in_mesh, 2)
        }

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast by dimensions, along a path in each (order in a line: ours)."""
        steps = [
            path_broadcast_steps(root // stride % side, side)
            for side, stride in zip(self.sides, self.strides, strict=True)
        ]
        phases = tuple((f"D{j}", count) for j, count in enumerate(steps))
        return {"dimensions": lambda: Schedule("dimensions", root, send_mesh, self.params, phases)}

    def cycle(self) -> Cycle | None:
        """Hamiltonian cycle along an even side, if any; see `next_to_and_fro` (ours)."""
        even = [j for j, side in enumerate(self.sides) if side % 2 == 0]
        if not even or (len(self.sides) == 1 and self.size > 2):
            return None
        return Cycle("rows", next_to_and_fro, np.append(self.params, even[0]))


class Path(Mesh):
    """Path of N processors; port 0 leads to u+1, port 1 to u-1.

    The same network as `Mesh` of one side.
    """

    parameters = (whole_number("N", 2),)
    example = "path:16"
    specification = "networks 3"

    def __init__(self, N: int):
        super().__init__([N])


class Torus(Grid):
    """Torus of any number of dimensions, each with a port +1 and a port -1 (one if side 2)."""

    parameters = (Parameter("SIDES", "sides >= 2 joined by x", sizes),)
    example = "torus:8x8x8"
    paper = "textbook"
    specification = "papers/hdn 9"
    default_classes = "dateline"

    def __init__(self, SIDES: Sequence[int]):
        directions = [1 if side == 2 else 2 for side in SIDES]
        diameter = sum(side // 2 for side in SIDES)
        super().__init__(SIDES, directions, {"degree": sum(directions), "diameter": diameter})

    @rule
    def neighbor(node, port, params):
        """Return the next processor in the port's dimension, round the ring."""
        at = DIMENSIONS + 1 + PORT_RECORD * port
        stride, side, step = params[at], params[at + SIDE], params[at + STEP]
        moved = coordinate(node, at, params) + step
        if moved < 0:
            step += side
        elif moved == side:
            step -= side
        return node + step * stride

    reverse_port = opposite_port

    routings = shortest_routings(dimensions=decide_torus, parity=decide_torus_by_parity)

    @property
    def load_routings(self) -> dict[str, Callable[[int], Routing]]:
        """Minimal adaptive routings for open-loop traffic, with escapes.

        Escapes are dimension order with datelines, and dimension order with bubbles.
        """
        return super().load_routings | {
            "adaptive": above_escape(self, "adaptive", closer_in_torus, 3),
            "adaptive-bubble": above_escape(
                self, "adaptive-bubble", closer_by_bubble, 2, bubble=True
            ),
        }

    @property
    def channel_classes(self) -> Choices:
        """Class rules of two classes in every dimension, as in its rings."""
        return ring_classes(self, dateline, wrap)

    def schedules(self, root: int) -> dict[str, Callable[[], Schedule]]:
        """Return the broadcast by dimensions, round a ring in each (docs/papers/hdn, 6.1)."""
        phases = tuple((f"D{j}", ring_broadcast_steps(side)) for j, side in enumerate(self.sides))
        return {"dimensions": lambda: Schedule("dimensions", root, send_torus, self.params, phases)}

    def cycle(self) -> Cycle:
        """Hamiltonian cycle by rows, dimension by dimension; see `next_of_rows` (ours)."""
        # An even side first lets all further rows alternate. Among odd sides the longest goes
        # first, as shifting needs as many rows as columns.
        order = sorted(range(len(self.sides)), key=lambda j: (self.sides[j] % 2, -self.sides[j]))
        return Cycle("rows", next_of_rows, np.append(self.params, order))


def require_sides(family: str, SIDES: Sequence[int]) -> None:
    """Raise `TopologyError` unless there are sides, and all are whole numbers >= 2."""
    if not SIDES:
        raise TopologyError(f"{family}: SIDES must be sides >= 2 joined by x, as in {family}:8x8.")
    for side in SIDES:
        require_integer(family, "a side", side, 2)


@inlined
def first_line(params):
    """Return the index of the record of dimension 0 in the parameters."""
    return DIMENSIONS + 1 + PORT_RECORD * params[1]


@inlined
def row_of(node, line, params):
    """Return a node's coordinates up to a record's dimension, as one number."""
    return quotient(node, params[line], params[line + OVER_STRIDE])


@inlined
def coordinate(node, line, params):
    """Return a node's coordinate in a record's dimension."""
    row = row_of(node, line, params)
    return row - quotient(row, params[line + SIDE], params[line + OVER_SIDE]) * params[line + SIDE]


@inlined
def differing_line(node, target, params):
    """Return the record of the lowest dimension that differs, and the difference.

    The rows differ by the same amount, because all lower dimensions are equal.
    """
    line = first_line(params)
    # A row combines all coordinates up to this one. Lower coordinates are equal here, and rows
    # differ by the same amount as coordinates.
    offset = row_of(target, line, params) - row_of(node, line, params)
    while offset == 0:
        line += LINE_RECORD
        offset = row_of(target, line, params) - row_of(node, line, params)
    return line, offset


@rule
def dateline(node, port, in_port, in_class, header, params):
    """Return 1 while the rest of the route in the port's dimension crosses its closing link."""
    at = DIMENSIONS + 1 + PORT_RECORD * port
    # The class is 1 until the message has crossed the closing link. This breaks the cycle of
    # channels round a ring (Dally, Seitz 1987).
    here, there = coordinate(node, at, params), coordinate(header[0], at, params)
    return crosses(here, there, params[at + STEP] > 0)


@rule
def wrap(node, port, in_port, in_class, header, params):
    """Return 1 for the whole route in the port's dimension if it crosses the closing link."""
    at = DIMENSIONS + 1 + PORT_RECORD * port
    # The class stays the same for all hops in a dimension. Equal strides mean the same
    # dimension.
    if in_port >= 0 and params[DIMENSIONS + 1 + PORT_RECORD * in_port] == params[at]:
        return in_class
    here, there = coordinate(node, at, params), coordinate(header[0], at, params)
    return crosses(here, there, params[at + STEP] > 0)


@rule
def closer_in_mesh(node, in_port, in_class, header, candidates, params):
    """List every closer port in class 1, and the port of dimension order in class 0."""
    if node == header[0]:
        return ARRIVED
    count, line = 0, first_line(params)
    for _ in range(params[DIMENSIONS]):
        offset = coordinate(header[0], line, params) - coordinate(node, line, params)
        if offset != 0:
            port = params[line + FIRST_PORT] + (PLUS if offset > 0 else MINUS)
            candidates[count, PORT], candidates[count, CLASS] = port, 1
            count += 1
        line += LINE_RECORD
    # Dimension order in class 0 is the escape, whose dependencies have no cycle. Class 1 may then
    # take any shortest route (Duato 1993).
    candidates[count, PORT], candidates[count, CLASS] = decide_mesh(node, header, params), 0
    return count + 1


@inlined
def note_closer(node, target, group, candidates, params):
    """Write every port that leads closer, with a class; return the number of these ports.

    At exactly half of a side both directions are shortest.
    """
    count, line = 0, first_line(params)
    for _ in range(params[DIMENSIONS]):
        offset = coordinate(target, line, params) - coordinate(node, line, params)
        side, first = params[line + SIDE], params[line + FIRST_PORT]
        ahead = offset if offset >= 0 else offset + side
        # At exactly half of the side both directions are shortest. Listing both spreads the load
        # of such pairs.
        if 0 < 2 * ahead <= side:
            candidates[count, PORT], candidates[count, CLASS] = first + PLUS, group
            count += 1
        if 2 * ahead >= side > 2:
            candidates[count, PORT], candidates[count, CLASS] = first + MINUS, group
            count += 1
        line += LINE_RECORD
    return count


@rule
def closer_in_torus(node, in_port, in_class, header, candidates, params):
    """List every port that leads closer in class 2, and dimension order in a dateline class."""
    if node == header[0]:
        return ARRIVED
    count = note_closer(node, header[0], 2, candidates, params)
    port = decide_torus(node, header, params)
    candidates[count, PORT] = port
    candidates[count, CLASS] = dateline(node, port, -1, -1, header, params)
    return count + 1


@rule
def closer_by_bubble(node, in_port, in_class, header, candidates, params):
    """List every closer port in class 1, and the port of dimension order in class 0."""
    if node == header[0]:
        return ARRIVED
    count = note_closer(node, header[0], 1, candidates, params)
    candidates[count, PORT], candidates[count, CLASS] = decide_torus(node, header, params), 0
    return count + 1


@inlined
def path_broadcast_steps(source, length):
    """Return the steps of the one-port broadcast from coordinate `source` of a path (ours)."""
    near = min(source, length - 1 - source)
    far = length - 1 - near
    return far if near == 0 else max(far, near + 1)


@inlined
def path_send(place, source, length, step):
    """Return the direction in which coordinate `place` of a path sends, or -1 (ours).

    The source sends towards the farther end first (a tie goes forward), then in the other
    direction. Every other node immediately sends on in the same direction.
    """
    ahead, behind = length - 1 - source, source
    # The farther end needs more steps and is served first. The nearer end catches up while
    # the message travels.
    forward_first = ahead >= behind
    forward_at = step - 1 if forward_first else step - 2
    backward_at = step - 2 if forward_first else step - 1
    offset = place - source
    if offset >= 0 and offset == forward_at and offset < ahead:
        return PLUS
    if offset <= 0 and -offset == backward_at and -offset < behind:
        return MINUS
    return -1


@rule
def send_mesh(node, root, since, step, params):
    """Return the port of the one-port broadcast in a mesh: by dimensions, along a path in each."""
    line = first_line(params)
    for _ in range(params[DIMENSIONS]):
        stride, side = params[line], params[line + SIDE]
        source = root // stride % side
        steps = path_broadcast_steps(source, side)
        if step <= steps:
            direction = path_send(node // stride % side, source, side, step)
            return direction if direction < 0 else params[line + FIRST_PORT] + direction
        step -= steps
        line += LINE_RECORD
    return -1


@rule
def send_torus(node, root, since, step, params):
    """Return the port of the one-port broadcast in a torus: by dimensions, round a ring in each."""
    line = first_line(params)
    for _ in range(params[DIMENSIONS]):
        stride, side = params[line], params[line + SIDE]
        steps = ring_broadcast_steps(side)
        if step <= steps:
            direction = ring_send((node // stride - root // stride) % side, side, step)
            return direction if direction < 0 else params[line + FIRST_PORT] + direction
        step -= steps
        line += LINE_RECORD
    return -1


@rule
def next_of_rows(node, way, params):
    """Return the port to the next node of a torus on a cycle built dimension by dimension (ours).

    Take a cycle of length L through some dimensions, and one more ring of n nodes. Each place of
    the cycle becomes a row of n nodes. Each row is walked round the ring, from its first node to
    the node before it. For even L, rows are walked forward from 0 and backward from n-1 in turn,
    which ends in column 0. For odd L, all sides are odd, and L >= n. Then the first n rows are
    walked forward, which shifts the column by -1 in each. The other rows alternate. The order of
    the dimensions is stored behind the topology's parameters: even sides first, then the longest
    side.
    """
    line = first_line(params)
    order = line + LINE_RECORD * params[DIMENSIONS]
    first = line + LINE_RECORD * params[order]
    place, length = coordinate(node, first, params), params[first + SIDE]
    port = params[first + FIRST_PORT] + PLUS
    for dimension in params[order + 1 : order + params[DIMENSIONS]]:
        record = line + LINE_RECORD * dimension
        side = params[record + SIDE]
        column = coordinate(node, record, params)
        # An odd cycle and an odd ring have no cycle of alternating rows. Shifting each of the first
        # rows by one column makes the ends meet.
        shifting = side if length & 1 else 0
        backward = place >= shifting and (place - shifting) & 1 == 1
        if place < shifting:
            walked = (column + place) % side
        else:
            walked = side - 1 - column if backward else column
        if walked < side - 1:
            port = params[record + FIRST_PORT] + (MINUS if backward and side > 2 else PLUS)
        place, length = place * side + walked, length * side
    return port


@rule
def next_to_and_fro(node, way, params):
    """Return the port to the next node of a mesh with an even side on a cycle (ours).

    The even side numbers the rows. The walk back and forth through all other sides, the last of
    them fastest, numbers the columns. With these rows and columns the mesh is a grid of two sides.
    """
    line = first_line(params)
    of_rows = params[line + LINE_RECORD * params[DIMENSIONS]]
    record = line + LINE_RECORD * of_rows
    rows, row_port = params[record + SIDE], params[record + FIRST_PORT]
    row = coordinate(node, record, params)
    column, ahead, back = 0, row_port, row_port
    for dimension in range(params[DIMENSIONS]):
        if dimension == of_rows:
            continue
        record = line + LINE_RECORD * dimension
        side = params[record + SIDE]
        # A walk that is reversed at every carry moves by one link at a time, like a reflected Gray
        # code.
        turned = column & 1
        place = coordinate(node, record, params)
        walked = side - 1 - place if turned else place
        if walked < side - 1:
            ahead = params[record + FIRST_PORT] + (MINUS if turned else PLUS)
        if walked > 0:
            back = params[record + FIRST_PORT] + (PLUS if turned else MINUS)
        column = column * side + walked
    turn = turn_in_grid(row, column, rows, params[0] // rows)
    if turn <= UP:
        return row_port + (PLUS if turn == DOWN else MINUS)
    return ahead if turn == RIGHT else back
