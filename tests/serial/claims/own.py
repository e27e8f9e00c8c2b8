"""A user's claims about rings, right ones and wrong ones."""

from mpinet.claims import Measured, OutOfReach, claim, once, over, points, unsettled
from mpinet.measure import diameter

RINGS = over(n=range(3, 20)).quick(lambda n: n < 9)


@claim("RING-D", statement="a ring's diameter is N//2", claimed=lambda n: n // 2, grid=RINGS)
def ring_diameter(n):
    return diameter(f"ring:{n}")


@claim(
    "RING-OFF",
    place="a slip",
    statement="a ring's diameter is (N+1)//2",
    claimed=lambda n: (n + 1) // 2,
    grid=over(n=range(4, 20)),
    note="the slip is ours",
    cause="rounding",
    fails_where=("N is odd", lambda n: n % 2 == 1),
    degenerate=lambda n: n < 6,
)
def off_by_one(n):
    return Measured(diameter(f"ring:{n}"), {"source": 0, "target": n // 2})


@claim(
    "RING-FAR",
    statement="a ring's diameter is at most N",
    claimed=lambda n: n,
    relation="<=",
    grid=points("two rings, one huge", [{"n": 5}, {"n": 10**15}]),
)
def in_part(n):
    if n > 10**9:
        raise OutOfReach("the ring is too large")
    return diameter(f"ring:{n}")


@claim("RING-HUGE", statement="any", relation="all", grid=points("", [{"n": 1}, {"n": 2}]))
def out_of_reach(n):
    raise OutOfReach(f"point {n} is too large")


@claim("RING-EMPTY", statement="any", relation="all", grid=over(n=range(0)))
def never_measured(n):
    return True


@claim("RING-BREAKS", statement="any", relation="all")
def breaks():
    return diameter("ring:2")


@claim(
    "RING-TABLE",
    statement="a table of diameters",
    claimed={"N=4": 2, "N=5": 3, "N=6": 3},
    grid=once("three rings"),
)
def table():
    return {f"N={n}": diameter(f"ring:{n}") for n in (4, 5, 6)}


undefined = unsettled("RING-WORD", place="1", statement="rings are nice", reason="not defined")
