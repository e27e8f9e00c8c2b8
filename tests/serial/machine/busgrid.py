"""A bus network as a user writes it: every row and every column of processors shares a bus."""

import networkx

from mpinet import Topology, rule

ROWS, COLUMNS = 2, 3
"""Where the rules' parameters hold the numbers of rows and columns."""


class BusGrid(Topology):
    """Busses 0..rows-1 are the rows, then the columns; ports: others in the row, in the column."""

    def __init__(self, rows: int, columns: int):
        super().__init__(
            f"{rows},{columns}",
            size=rows * columns,
            ports=rows + columns - 2,
            params=[rows, columns],
            busses=rows + columns,
        )

    @rule
    def neighbor(node, port, params):
        columns = params[COLUMNS]
        row, column = node // columns, node % columns
        if port < columns - 1:
            return row * columns + port + (port >= column)
        place = port - (columns - 1)
        return (place + (place >= row)) * columns + column

    @rule
    def channel(node, port, params):
        columns = params[COLUMNS]
        return node // columns if port < columns - 1 else params[ROWS] + node % columns


def bus_grid_wiring(rows: int, columns: int) -> list[list[int]]:
    """The same once more: neighbours by port, from networkx's rook's graph on a board."""
    board = networkx.Graph()
    places = [(row, column) for row in range(rows) for column in range(columns)]
    board.add_nodes_from(places)
    wiring = []
    for row, column in places:
        in_row = [(row, other) for other in range(columns) if other != column]
        in_column = [(other, column) for other in range(rows) if other != row]
        wiring.append([places.index(place) for place in in_row + in_column])
    return wiring
