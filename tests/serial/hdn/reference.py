"""The hierarchical dual-net once more, in plain Python on digits: the text of docs/papers/hdn.

Nothing here uses mpinet. A node of HDN(B,i) is its tuple of digits (C_i, U_i, .., C_1, U_1, b..).
"""

from functools import cache, cached_property
from itertools import product
from math import ceil, log2, prod


def from_digits(digits, radices):
    number = 0
    for digit, radix in zip(digits, radices, strict=True):
        assert 0 <= digit < radix
        number = number * radix + digit
    return number


def to_digits(number, radices):
    digits = []
    for radix in reversed(radices):
        number, digit = divmod(number, radix)
        digits.append(digit)
    assert number == 0
    return tuple(reversed(digits))


class Network:
    """HDN(B,k,S): factors (kind, size), super-nodes J_1..J_k."""

    def __init__(self, base, levels=()):
        self.base = [("K", 2) if factor == ("C", 2) else factor for factor in base]
        self.levels = [tuple(sorted(members)) for members in levels]
        self.k = len(levels)
        self.b = [size for _, size in base]
        self.N = [prod(self.b)]
        self.s, self.n = [None], [None]
        for members in self.levels:
            self.s.append(prod(self.b[j] for j in members))
            self.n.append(self.N[-1] // self.s[-1])
            self.N.append(2 * self.n[-1] * self.N[-1])
        self.size = self.N[-1]

    def radices(self, i):
        upper = [radix for level in range(i, 0, -1) for radix in (2, self.n[level])]
        return upper + self.b

    def places(self, i):
        """Places of the digits of SN_i and of N_i in a node of HDN(B,i-1)."""
        first, members = 2 * (i - 1), self.levels[i - 1]
        outside = [first + j for j in range(len(self.b)) if j not in members]
        return [*range(first), *outside], [first + j for j in members]

    def split(self, i, y):
        """(SN_i(y), N_i(y))."""
        radices = self.radices(i - 1)
        return tuple(
            from_digits([y[at] for at in places], [radices[at] for at in places])
            for places in self.places(i)
        )

    def compose(self, i, number, inner):
        radices, y = self.radices(i - 1), {}
        for places, part in zip(self.places(i), (number, inner), strict=True):
            y |= zip(places, to_digits(part, [radices[at] for at in places]), strict=True)
        return tuple(y[at] for at in range(len(radices)))

    def number(self, x):
        """The node's number."""
        if self.k == 0:
            return from_digits(x, self.b)
        number, inner = self.split(self.k, x[2:])
        top = (x[0] * self.n[-1] + x[1]) * self.N[-2]
        return top + number * self.s[-1] + inner

    @cached_property
    def nodes(self):
        """All nodes in order of their numbers."""
        return sorted(product(*map(range, self.radices(self.k))), key=self.number)

    def node(self, number):
        if self.k == 0:
            return to_digits(number, self.b)
        top, low = divmod(number, self.N[-2])
        return (*divmod(top, self.n[-1]), *self.compose(self.k, *divmod(low, self.s[-1])))

    def cross(self, i, x):
        """Cross port of level i of a node of HDN(B,i) or above."""
        high, (c, u), y = x[: -self.width(i)], x[-self.width(i) :][:2], x[-self.width(i - 1) :]
        number, inner = self.split(i, y)
        return (*high, 1 - c, number, *self.compose(i, u, inner))

    def width(self, i):
        return 2 * i + len(self.b)

    def steps(self, j):
        """What the ports of factor j add to the coordinate."""
        kind, size = self.base[j]
        return range(1, size) if kind == "K" else (1, -1)

    def wiring(self, x):
        """Neighbours by port, None where a port is not wired."""
        first, found = 2 * self.k, []
        for j, (kind, size) in enumerate(self.base):
            at = first + j
            for step in self.steps(j):
                if kind == "P" and not 0 <= x[at] + step < size:
                    found.append(None)
                else:
                    found.append((*x[:at], (x[at] + step) % size, *x[at + 1 :]))
        return found + [self.cross(i, x) for i in range(1, self.k + 1)]

    # Routing: every route is the list of the nodes passed, the source first.

    def base_route(self, y, z):
        path = [y]
        for j, (kind, size) in enumerate(self.base):
            ahead = (z[j] - y[j]) % size
            if kind == "K":
                steps = [ahead] if ahead else []
            elif kind == "P":
                steps = [1 if z[j] > y[j] else -1] * abs(z[j] - y[j])
            else:
                steps = [1] * ahead if 2 * ahead <= size else [-1] * (size - ahead)
            for step in steps:
                x = path[-1]
                path.append((*x[:j], (x[j] + step) % size, *x[j + 1 :]))
        return path

    def inside(self, path, high):
        return [(*high, *y) for y in path]

    def algorithm1(self, i, u, v):
        """5.1."""
        if i == 0:
            return self.base_route(u, v)
        (c, own, *y), (d, other, *z) = u, v
        y, z = tuple(y), tuple(z)
        if (c, own) == (d, other):
            return self.inside(self.algorithm1(i - 1, y, z), (c, own))
        if c == d:
            return [u, *self.algorithm1(i, self.cross(i, u), v)]
        n, m = self.split(i, y)[1], self.split(i, z)[1]
        start, end = self.compose(i, other, n), self.compose(i, own, m)
        landed = self.cross(i, (c, own, *start))
        assert landed == (d, other, *self.compose(i, own, n))
        below = 2 * (i - 1)
        middle = self.base_route(landed[2:][below:], end[below:])
        last = self.algorithm1(i - 1, z, end)[::-1]
        return [
            *self.inside(self.algorithm1(i - 1, y, start), (c, own)),
            *self.inside(middle, landed[: 2 + below]),
            *self.inside(last, (d, other))[1:],
        ]

    def next_hop(self, i, x, v):
        """5.3: the node after x."""
        if i == 0:
            return self.base_route(x, v)[1]
        if x[:2] == v[:2]:
            return (*x[:2], *self.next_hop(i - 1, x[2:], v[2:]))
        if x[0] == v[0]:
            return self.cross(i, x)
        goal = self.compose(i, v[1], self.split(i, v[2:])[1])
        if x[2:] == goal:
            return self.cross(i, x)
        return (*x[:2], *self.next_hop(i - 1, x[2:], goal))

    def stateless(self, u, v):
        path = [u]
        while path[-1] != v:
            path.append(self.next_hop(self.k, path[-1], v))
        return path

    @cache  # noqa: B019
    def landing(self, i, u, v):
        """5.4, by trying all landings."""
        if i == 0:
            return self.base_route(u, v)
        if u[:2] == v[:2]:
            return self.inside(self.landing(i - 1, u[2:], v[2:]), u[:2])
        if u[0] == v[0]:
            return [u, *self.landing(i, self.cross(i, u), v)]
        tried = []
        for nu in range(self.s[i]):
            first = self.landing(i - 1, u[2:], self.compose(i, v[1], nu))
            second = self.landing(i - 1, self.compose(i, u[1], nu), v[2:])
            tried.append((len(first) + len(second), nu, first, second))
        _, _, first, second = min(tried)
        return [*self.inside(first, u[:2]), *self.inside(second, v[:2])]

    def route(self, name, source, target):
        """The numbers of the nodes passed."""
        u, v = self.node(source), self.node(target)
        if name == "stateless":
            path = self.stateless(u, v)
        else:
            path = (self.algorithm1 if name == "algorithm1" else self.landing)(self.k, u, v)
        return [self.number(x) for x in path]

    # The one-port broadcast (6.2); a phase is (name, steps, lo, sigma).

    def factor_steps(self, j):
        kind, size = self.base[j]
        return ceil(log2(size)) if kind == "K" else ceil(size / 2)

    def phases(self, i, informed, first, sigma):
        if i == 0:
            outside = [j for j in range(len(self.b)) if j not in informed]
            return [(f"D{j}", self.factor_steps(j), first, sigma) for j in outside]
        found = self.phases(i - 1, informed, first, sigma)
        found.append((f"X{i}", 1, first, sigma))
        again = first + len(found)
        found += self.phases(i - 1, self.levels[i - 1], again, again - 1)
        if self.n[i] > 1:
            found.append((f"Y{i}", 1, again, None))
        return found

    def calls(self, j, offset, t):
        """The offset to which an offset sends in sub-step t, or None (6.1)."""
        kind, size = self.base[j]
        if kind == "K":
            to = offset + 2 ** (t - 1)
            return to if offset < 2 ** (t - 1) and to < size else None
        if offset == t - 1 and t <= ceil(size / 2):
            return t
        if t >= 2 and offset == -(t - 2) and size - (t - 1) > ceil(size / 2):
            return -(t - 1)
        return None

    def broadcast(self, root):
        """The set of (step, sender, receiver); messages carry the offset."""
        known = {self.node(root): (-1, 0)}
        sends, step = set(), 0
        for q, (name, steps, lo, sigma) in enumerate(self.phases(self.k, (), 0, -1)):
            number = int(name[1:])
            for t in range(1, steps + 1):
                step += 1
                heard = {}
                for x, (p, offset) in known.items():
                    acts = p == sigma or lo <= p < q
                    if name[0] != "D":
                        if acts:
                            heard[x] = (self.cross(number, x), 0)
                        continue
                    if not acts and p != q:
                        continue
                    offset = offset if p == q else 0
                    to = self.calls(number, offset, t)
                    if to is not None:
                        at, size = 2 * self.k + number, self.b[number]
                        moved = (x[at] + to - offset) % size
                        heard[x] = ((*x[:at], moved, *x[at + 1 :]), to)
                for x, (y, offset) in heard.items():
                    assert y not in known
                    known[y] = (q, offset)
                    sends.add((step, self.number(x), self.number(y)))
        assert len(known) == self.size
        assert len(sends) == self.size - 1
        return sends
