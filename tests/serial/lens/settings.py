"""The bus networks that the tests try: topology string -> the network of the reference."""

from itertools import product

from serial.lens import reference

LENSES = {
    f"lens:{p},{q},{n}": reference.lens(p, q, n)
    for p, q, n in [
        *product(range(2, 6), range(2, 6), range(1, 4)),
        (3, 3, 5),
        (3, 2, 5),
        (2, 3, 5),
    ]
}
CIRCLES = {
    f"clens:{p},{n}": reference.lens(p, p, n, completed=True)
    for p, n in [
        (2, 2),
        (2, 3),
        (2, 6),
        (3, 2),
        (3, 3),
        (3, 4),
        (3, 5),
        (4, 2),
        (4, 3),
        (5, 2),
        (6, 2),
    ]
}
PARTIALS = {
    **{f"plens:3,{size}": reference.partial_lens(3, size, 3) for size in range(9, 25)},
    **{f"plens:3,{size},4": reference.partial_lens(3, size, 4) for size in (4, 5, 7, 11, 23, 24)},
    **{
        f"plens:4,{size}": reference.partial_lens(4, size, 3)
        for size in (19, 29, 41, 53, 60, 80, 81)
    },
    **{f"plens:5,{size}": reference.partial_lens(5, size, 2) for size in (2, 3, 13, 18, 31, 32)},
}
OTHERS = {
    **{
        f"snowflake:{p},{n}": reference.snowflake(p, n)
        for p, n in [(2, 1), (2, 2), (2, 5), (3, 1), (3, 2), (3, 4), (4, 3), (5, 3), (7, 2), (3, 5)]
    },
    **{
        f"busstar:{p},{n}": reference.star(p, n)
        for p, n in [(3, 1), (3, 2), (3, 3), (3, 5), (4, 2), (4, 4), (5, 3), (6, 3), (7, 2), (9, 3)]
    },
}
BUS_NETWORKS = LENSES | CIRCLES | PARTIALS | OTHERS
