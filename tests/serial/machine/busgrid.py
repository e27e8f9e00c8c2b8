"""A bus network as a user writes it: every row and every column of processors shares a bus."""

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


def bus_grid_wiring(rows: int, columns: int) -> list[list[int | None]]:
    """The neighbours by port once more, in plain Python."""
    return [
        [row * columns + other for other in range(columns) if other != column]
        + [other * columns + column for other in range(rows) if other != row]
        for row in range(rows)
        for column in range(columns)
    ]


def bus_of(hop: tuple[int, int, int], rows: int, columns: int) -> int:
    """The bus of a hop (node, port, next node), by the places of its ends."""
    sender, _, receiver = hop
    same_row = sender // columns == receiver // columns
    return sender // columns if same_row else rows + sender % columns
