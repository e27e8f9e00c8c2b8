"""A second program for adaptive routing under open-loop traffic: plain Python, no arrays, no ranks.

Written from docs/reference/traffic.md: a trace on a network, one-flit steps. Messages are
dictionaries, lanes are lists of flits. The grids here are meshes, tori and hypercubes with minimal
adaptive routing and an escape; `queue_reference` has the routings that look at queues.
"""

from itertools import product
from math import prod

MASK = 0xFFFFFFFF


def mix(word):
    word ^= word >> 16
    word = word * 0x7FEB352D & MASK
    word ^= word >> 15
    word = word * 0x846CA68B & MASK
    return word ^ word >> 16


def draw(seed, first, second, stream):
    word = mix((seed & MASK) ^ (stream * 0x1E35A7BD + 0x2545F491) & MASK)
    word = mix(word ^ (seed >> 32) & MASK)
    for counter in (first, second):
        word = mix((word + counter) & MASK)
        word = mix(word ^ (counter >> 32) & MASK)
    return word


class Grid:
    """A mesh or torus by coordinates, a hypercube as one of sides of two."""

    def __init__(self, name):
        family, _, sides = name.partition(":")
        self.cube, self.round = family == "hypercube", family == "torus"
        self.sides = [2] * int(sides) if self.cube else [int(side) for side in sides.split("x")]
        self.size = prod(self.sides)
        self.classes, self.escape = (3, 2) if self.round else (2, 1)
        self.places = [p[::-1] if self.cube else p for p in product(*map(range, self.sides))]
        self.number = {place: node for node, place in enumerate(self.places)}
        self.ports = []  # (dimension, direction)
        for j, side in enumerate(self.sides):
            one_link = self.cube or (self.round and side == 2)
            self.ports += [(j, 1)] if one_link else [(j, 1), (j, -1)]

    def best(self, able):
        """Of (port, class, room) the most room in the highest class."""
        return max(able, key=lambda way: (way[1], way[2]))

    def behind(self, node, port):
        j, direction = self.ports[port]
        place = list(self.places[node])
        place[j] += direction
        if self.round or self.cube:
            place[j] %= self.sides[j]
        return self.number.get(tuple(place))

    def back(self, node, port):
        j, direction = self.ports[port]
        return self.ports.index((j, -direction)) if (j, -direction) in self.ports else port

    def ways(self, node, lane, message, queue):
        """Candidates (port, class), the escape last; its classes are the lowest."""
        here, there = self.places[node], self.places[message["target"]]
        found, escape = [], None
        adaptive = 2 if self.round else 1
        for j, side in enumerate(self.sides):
            if here[j] == there[j]:
                continue
            ahead = (there[j] - here[j]) % side
            for port, (dimension, direction) in enumerate(self.ports):
                if dimension != j:
                    continue
                way = ahead if direction > 0 else side - ahead
                if not self.round and not self.cube:
                    way = 0 if (there[j] > here[j]) == (direction > 0) else side
                if 2 * way > side:
                    continue
                found.append((port, adaptive))
                if escape is None:
                    wraps = there[j] < here[j] if direction > 0 else there[j] > here[j]
                    escape = (port, int(wraps and self.round))
        return [*found, escape]


def play(grid, rows, vcs, buffer, switching, policy):
    """The times (done, born, source, entered + hops) of all messages, steps, moves, flits left."""
    ports, each = len(grid.ports), vcs // grid.classes
    nodes, lanes = range(grid.size), range((ports + 1) * vcs)
    queue = {(u, k): [] for u in nodes for k in lanes}  # flits: (message, index)
    out = {}  # of a lane whose head has left: (port, vc)
    credit = {(u, p, v): buffer for u in nodes for p in range(ports) for v in range(vcs)}
    holder, kept, pointer = {}, {}, {}
    waiting = {u: [] for u in nodes}
    messages = [
        {"number": i, "born": t, "source": s, "target": d, "flits": f, "hops": 0}
        for i, (t, s, d, f) in enumerate(sorted(rows, key=lambda row: row[:2]))
    ]
    step = moves = 0
    while True:
        for message in messages:
            if message["born"] == step:
                waiting[message["source"]].append(message)
        for u in nodes:
            for k in range(ports * vcs, (ports + 1) * vcs):
                if waiting[u] and not queue[u, k]:
                    message = waiting[u].pop(0)
                    message["came", u] = step
                    queue[u, k] = [(message, i) for i in range(message["flits"])]
        granted = []
        for u in nodes:
            bids = {}
            for k in lanes:
                if queue[u, k]:
                    message, index = queue[u, k][0]
                    way = wish(
                        grid, u, k, message, index, queue, out, credit, holder, vcs, each, buffer,
                        switching, ports,
                    )  # fmt: skip
                    if way is not None:
                        bids[k] = way
            granted += [
                (u, k, *bids[k])
                for k in grants(u, bids, queue, kept, pointer, step, policy, switching, vcs, ports)
            ]
        arrivals = []
        for u, k, port, vc in granted:
            message, index = queue[u, k].pop(0)
            head, tail = index == 0, index == message["flits"] - 1
            if k < ports * vcs:
                by = grid.behind(u, k // vcs), grid.back(u, k // vcs), k % vcs
                arrivals.append((by, None))
            elif head:
                message["entered"] = step
            if switching != "wormhole":
                kept[u, port] = None if tail else k
            if port == ports:
                out[u, k] = None if tail else (port, None)
                if tail:
                    message["done"] = step
                continue
            out[u, k] = None if tail else (port, vc)
            credit[u, port, vc] -= 1
            holder[u, port, vc] = None if tail else k
            message["hops"] += head
            there = grid.behind(u, port), grid.back(u, port) * vcs + vc
            arrivals.append((there, (message, index)))
        moves += len(granted)
        step += 1
        for place, flit in arrivals:
            if flit is None:
                credit[place] += 1
                continue
            queue[place].append(flit)
            if flit[1] == 0:
                flit[0]["came", place[0]] = step
        inside = sum(len(queue[u, k]) for u in nodes for k in range(ports * vcs))
        born = all(message["born"] < step for message in messages)
        if not granted and (inside or (born and not any(waiting.values()))):
            break
    times = [
        (m["done"], m["born"], m["source"], m["entered"] + m["hops"])
        for m in messages
        if "done" in m
    ]
    return times, step, moves, inside


def wish(
    grid, u, k, message, index, queue, out, credit, holder, vcs, each, buffer, switching, ports
):
    """The port and virtual channel that the front flit of a lane bids for; None if it cannot go."""
    if index > 0:
        port, vc = out[u, k]
        return (port, vc) if port == ports or credit[u, port, vc] else None
    if message["target"] == u:
        return ports, None
    flits = message["flits"]
    if switching == "saf" and sum(flit[0] is message for flit in queue[u, k]) < flits:
        return None
    lane = (k // vcs, k % vcs // each) if k < ports * vcs else (-1, -1)

    def queued(node, port):
        if grid.behind(node, port) is None:
            return 0
        return sum(buffer - credit[node, port, vc] for vc in range(vcs))

    able = []
    for port, group in grid.ways(u, lane, message, queued):
        need = (
            flits if switching != "wormhole" else 1 if group < grid.escape else min(flits, buffer)
        )
        rooms = {vc: credit[u, port, vc] for vc in range(group * each, (group + 1) * each)}
        rooms = {v: r for v, r in rooms.items() if holder.get((u, port, v)) is None and r >= need}
        if rooms:
            vc = max(rooms, key=lambda v: (rooms[v], -v))
            able.append((port, group, rooms[vc], vc))
    if not able:
        return None
    port, _, _, vc = grid.best(able)
    return port, vc


def grants(u, bids, queue, kept, pointer, step, policy, switching, vcs, ports):
    """The lanes of a node that are granted what they bid for; one of an input and of an output."""
    chosen, inputs, outputs = [], set(), set()
    if switching != "wormhole":
        for port in range(ports + 1):
            lane = kept.get((u, port))
            if lane is not None:
                inputs.add(lane // vcs)
                outputs.add(port)
                chosen += [lane] if lane in bids else []
    rest = [k for k in bids if k not in chosen]
    if policy == "rotating":
        count = (ports + 1) * vcs
        for turn in range(ports + 1):
            port = (step + turn) % (ports + 1)
            able = [k for k in rest if bids[k][0] == port and k // vcs not in inputs]
            if port in outputs or not able:
                continue
            lane = min(able, key=lambda k: (k - pointer.get((u, port), 0)) % count)
            pointer[u, port] = (lane + 1) % count
            chosen.append(lane)
            inputs.add(lane // vcs)
        return chosen
    keys = {
        k: (queue[u, k][0][0]["came", u] if policy == "fifo" else 0, queue[u, k][0][0]["number"])
        for k in rest
    }
    for k in sorted(rest, key=keys.get):
        if bids[k][0] not in outputs and k // vcs not in inputs:
            chosen.append(k)
            outputs.add(bids[k][0])
            inputs.add(k // vcs)
    return chosen
