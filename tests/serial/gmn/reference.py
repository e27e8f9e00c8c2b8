"""G(m,N) once more, on lists and dictionaries: docs/papers/gmn read line by line."""

from collections import deque
from itertools import pairwise


class Loops:
    """G(m,N), section 2: neighbours by port name."""

    def __init__(self, m, N):
        self.m, self.N = m, N
        self.b, self.k = m // 2, N // (2 * m)
        r = self.b - 1
        self.kind = {2 * i + 1: r - 2 * i for i in range(r // 2 + 1)}
        if r % 2 == 0:
            self.kind |= {self.b + 2 * i: 2 * i - 1 for i in range(1, r // 2 + 1)}
        else:
            self.kind |= {self.b + 2 * i + 1: 2 * i for i in range(r // 2 + 1)}
        self.pos = {t: p for p, t in self.kind.items()}
        self.even_is_upper = r % 2 == 1

    def ports(self, u):
        """Port name -> neighbour, in port order."""
        N, p = self.N, u % self.m
        found = {"+c": (u + 1) % N, "-c": (u - 1) % N}
        if p == 0:
            found["d"] = (u + N // 2) % N
        elif p in self.kind:
            t = self.kind[p]
            up, down = ((u + sign * self.m * 2**t) % N for sign in (1, -1))
            found[f"+h{t}"] = up
            if down != up:
                found[f"-h{t}"] = down
        return found

    def wiring(self):
        return [list(self.ports(u).values()) for u in range(self.N)]

    def follow(self, u, token):
        """The node behind a token; the second name of a coinciding link is accepted."""
        ports = self.ports(u)
        if token not in ports and token == f"-h{self.b - 1}":
            token = "+" + token[1:]
        return ports[token]

    def nodes(self, s, tokens):
        path = [s]
        for token in tokens:
            path.append(self.follow(path[-1], token))
        return path


def rrb(n):
    """Section 3: digits, the lowest first."""
    digits, rest = [], abs(n)
    while rest:
        digit = 2 - rest % 4 if rest % 2 else 0
        digits.append(digit)
        rest = (rest - digit) // 2
    return digits if n >= 0 else [-v for v in digits]


def largest(b):
    return 2 ** (b + 1) // 3


def convert(digits, kind):
    counts = {}
    for i, v in enumerate(digits):
        keep = i == 0 or kind == "B" or (i % 2 == 0) == (kind == "E")
        t, hops = (i, v) if keep else (i - 1, 2 * v)
        counts[t] = counts.get(t, 0) + hops
    return {t: count for t, count in counts.items() if count}


def emit(g, P, way, counts, diag):
    """Section 4.1."""
    left, tokens, place = dict(counts), [], P

    def spend():
        nonlocal diag
        p = place % g.m
        if p == 0 and diag:
            tokens.append("d")
            diag = False
        elif g.kind.get(p) in left:
            t = g.kind[p]
            hops = left.pop(t)
            tokens.extend([f"{'+' if hops > 0 else '-'}h{t}"] * abs(hops))

    spend()
    for stop in way:
        while place != stop:
            step = 1 if stop > place else -1
            place += step
            tokens.append("+c" if step > 0 else "-c")
            spend()
    return tokens


def erase_loops(path, labels):
    """Chronologically: back at a node of the path, drop everything since."""
    kept, kept_labels = [path[0]], []
    for node, label in zip(path[1:], labels, strict=True):
        if node in kept:
            at = kept.index(node)
            kept, kept_labels = kept[: at + 1], kept_labels[:at]
        else:
            kept.append(node)
            kept_labels.append(label)
    return kept, kept_labels


INVERSE = {"+": "-", "-": "+"}


def invert(token):
    return token if token == "d" else INVERSE[token[0]] + token[1:]


def hops_between(g, s, d):
    """Section 4.2, steps 3 to 5: signed hops of each type, their class, whether the diagonal."""
    k = g.k
    delta, sign = (d // g.m - s // g.m) % (2 * k), 1
    if delta > k - 1:
        delta, sign = 2 * k - delta, -1
    diag = not 0 < delta <= largest(g.b)
    D = rrb(sign * (delta - k) if diag else sign * delta)
    w_e = sum(1 for i, v in enumerate(D) if v and i % 2 == 0 and i >= 2)
    w_o = sum(1 for i, v in enumerate(D) if v and i % 2 == 1)
    kind = "E" if w_e > w_o else "O"
    return convert(D, kind), kind, diag


def shortest_order(g, s, d):
    """The fewest edges of a route with these hops in any order, and one more of type 0 at most.

    A search in breadth over nodes with the hops that are still to be made.
    """
    ring = min((d - s) % g.N, (s - d) % g.N)
    if ring <= g.m:
        return ring
    H, _, diag = hops_between(g, s, d)
    found = []
    for added in (-1, 0, 1):
        hops = {t: count for t, count in {**H, 0: H.get(0, 0) + added}.items() if count}
        types = sorted(hops)
        here = {(s, tuple(hops[t] for t in types), diag)}
        goal, seen, steps = (d, (0,) * len(types), False), set(here), 0
        while goal not in seen:
            here = {state for one in here for state in moves(g, types, *one)} - seen
            seen |= here
            steps += 1
        found.append(steps)
    return min(found)


def moves(g, types, node, left, diag):
    """The states one edge further: along the ring, over the diagonal, by a hop that is left."""
    yield g.follow(node, "+c"), left, diag
    yield g.follow(node, "-c"), left, diag
    if diag and node % g.m == 0:
        yield g.follow(node, "d"), left, False
    for i, t in enumerate(types):
        if left[i] and node % g.m == g.pos[t]:
            sign = 1 if left[i] > 0 else -1
            after = (*left[:i], left[i] - sign, *left[i + 1 :])
            yield g.follow(node, f"{'+' if sign > 0 else '-'}h{t}"), after, diag


def route(g, s, d):
    """Section 4.2: the tokens."""
    m, N = g.m, g.N
    dist = (d - s) % N
    if dist <= m:
        return ["+c"] * dist
    if N - dist <= m:
        return ["-c"] * (N - dist)
    P, Q = s % m, d % m
    if P > Q:
        return [invert(token) for token in reversed(route(g, d, s))]
    H, kind, diag = hops_between(g, s, d)
    upper = g.even_is_upper == (kind == "E")
    U = {g.pos[t] for t in H} | ({m if upper else 0} if diag else set())
    if not U or (min(U) >= P and max(U) <= Q):
        way = [Q]
    elif (upper and m > P + Q) or (not upper and m < P + Q):
        H[0] = H.get(0, 0) + 1
        H = {t: count for t, count in H.items() if count}
        V = {g.pos[t] for t in H}
        first = min({Q - m} | {v - m for v in V}) if upper else max({P} | V)
        way = [first, Q - m]
    else:
        way = [min(U | {P}), max(U | {Q}), Q]
    tokens = emit(g, P, way, H, diag)
    return erase_loops(g.nodes(s, tokens), tokens)[1]


def path(g, s, d):
    return g.nodes(s, route(g, s, d))


def detour(g, a, b, f):
    """Section 5: the nodes of a path around f."""
    parent, queue = {a: None}, deque([a])
    while queue:
        u = queue.popleft()
        if u == b:
            break
        for v in g.ports(u).values():
            if v != f and v not in parent:
                parent[v] = u
                queue.append(v)
    found = [b]
    while parent[found[-1]] is not None:
        found.append(parent[found[-1]])
    return found[::-1]


def without_loops(path):
    return erase_loops(path, path[1:])[0]


def online(g, s, d, f):
    """Section 5.1: the path, f not among its ends."""
    whole = path(g, s, d)
    if f not in whole:
        return whole
    i = whole.index(f)
    rest = detour(g, whole[i - 1], whole[i + 1], f) + whole[i + 2 :]
    return whole[: i - 1] + without_loops(rest)


def variants(g, s, d, reading="min"):
    """Section 5.2: the paths of all variants; `reading` of the first way for w = -1."""
    m, k = g.m, g.k
    P, Q = s % m, d % m
    for w in (0, -1, 1):
        for diag in (False, True):
            R = (d // m - s // m - w - (k if diag else 0)) % (2 * k)
            R = R - 2 * k if k < R else R
            for kind in "EOB":
                H = convert(rrb(R), kind)
                if any(t >= g.b for t in H):
                    continue
                U = {g.pos[t] for t in H}
                for way in ways(w, diag, U, P, Q, m, reading):
                    tokens = emit(g, P, way, H, diag)
                    yield erase_loops(g.nodes(s, tokens), tokens)[0]


def ways(w, diag, U, P, Q, m, reading):
    if w == 0:
        for V in [U | {P, Q, 0}, U | {P, Q, m}] if diag else [U | {P, Q}]:
            yield [min(V), max(V), Q]
            yield [max(V), min(V), Q]
    elif w == -1:
        yield [(max if reading == "max" else min)(U | {P}), Q - m]
        yield [min(U | {Q}) - m, Q - m]
    else:
        yield [min(U | {P}), Q + m]
        yield [max(U | {Q}) + m, Q + m]


def planned(g, s, d, f, reading="min"):
    """Section 5.2: the first shortest candidate, those that end elsewhere left out."""
    best = None
    for whole in [path(g, s, d), *variants(g, s, d, reading)]:
        if whole[-1] != d:
            continue
        if f in whole:
            i = whole.index(f)
            whole = whole[: i - 1] + detour(g, whole[i - 1], whole[i + 1], f) + whole[i + 2 :]
            whole = without_loops(whole)
        if best is None or len(whole) < len(best):
            best = whole
    return best


def size_range(m):
    """Section 1: lo, hi."""
    return (m - 1) * 2 ** ((m - 1) // 2 + 1), m * 2 ** (m // 2 + 1)


def m_of(N):
    return next(m for m in range(3, 200) if size_range(m)[0] < N <= size_range(m)[1] or N == 8)


def sizes(m):
    lo, hi = size_range(m)
    return [N for N in range(2 * m, hi + 1, 2 * m) if lo < N]


class Arbitrary:
    """Section 6: G(m,N') without e nodes; None for what is not possible is the caller's matter."""

    def __init__(self, N):
        m = m_of(N)
        whole = next(n for mm in (m, m + 1) for n in sizes(mm) if n >= N)
        self.g, self.N, self.m, e = Loops(m, whole), N, m, whole - N
        S = whole // m
        self.possible = e <= S * ((m - 1) // 2)
        self.removed = set()
        for j in range(S):
            c = (j + 1) * e // S - j * e // S
            self.removed |= {j * m + 2 * i for i in range(1, c + 1)}
        self.old = [u for u in range(whole) if u not in self.removed]
        self.new = {u: i for i, u in enumerate(self.old)}

    def wiring(self):
        rows = []
        for i, u in enumerate(self.old):
            jumps = list(self.g.ports(u).values())[2:]
            rows.append([(i + 1) % self.N, (i - 1) % self.N, *(self.new[v] for v in jumps)])
        return rows

    def path(self, s, d):
        whole = path(self.g, self.old[s], self.old[d])
        return [self.new[u] for u in whole if u not in self.removed]


def distances(wiring, source):
    """Breadth-first search."""
    found, queue = {source: 0}, deque([source])
    while queue:
        u = queue.popleft()
        for v in wiring[u]:
            if v >= 0 and v not in found:
                found[v] = found[u] + 1
                queue.append(v)
    return [found[u] for u in range(len(wiring))]


def is_walk(wiring, nodes):
    return all(v in wiring[u] for u, v in pairwise(nodes))
