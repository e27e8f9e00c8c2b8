"""Programs of GPUs made from the textbook's algorithms, and programs with one mistake each.

A program of MSCCL is kept as a dict: its header, and for each GPU its thread blocks with their
steps. A plan of MSCCL++ is kept as its JSON. Both can be changed before they are written.
"""

import copy
import json


def step(kind, source, target, count=1, after=(-1, -1)):
    """A step; source and target are a buffer and an offset, `after` a thread block and a step."""
    keys = "type srcbuf srcoff dstbuf dstoff cnt depid deps".split()
    return dict(zip(keys, (kind, *source, *target, count, *after), strict=True))


def block(send, receive, *steps, channel=0):
    return {"send": send, "recv": receive, "chan": channel, "steps": [*steps]}


def copies(source, target, count=1, after=(-1, -1)):
    """A thread block that copies within its GPU."""
    return block(-1, -1, step("cpy", source, target, count, after))


def program(coll, loop, gpus, sizes, ways=("inplace",), **more):
    """`gpus` are the thread blocks of each GPU, `sizes` the chunks of its three buffers."""
    header = {"name": "made", "coll": coll, "nchunksperloop": loop, "ngpus": len(gpus)} | more
    header |= {way: int(way in ways) for way in ("inplace", "outofplace")}
    return {"header": header, "sizes": sizes, "gpus": gpus}


def xml(made):
    """Write a program of MSCCL."""

    def tag(name, values):
        return f"<{name} " + " ".join(f'{key}="{value}"' for key, value in values.items())

    lines = [tag("algo", made["header"]) + ">"]
    for gpu, blocks in enumerate(made["gpus"]):
        sizes = {f"{name}_chunks": size for name, size in zip("ios", made["sizes"], strict=True)}
        lines.append(tag("gpu", {"id": gpu} | sizes) + ">")
        for number, each in enumerate(blocks):
            ends = {key: value for key, value in each.items() if key != "steps"}
            lines.append(tag("tb", {"id": number} | ends) + ">")
            lines += [tag("step", {"s": s} | one) + "/>" for s, one in enumerate(each["steps"])]
            lines.append("</tb>")
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>"])


def ring_allgather(n, per=1, in_place=True):
    gpus = []
    for g in range(n):
        at = [("o", (g - t) % n * per) for t in range(n)]
        first = at[0] if in_place else ("i", 0)
        kinds = ["rcs"] * (n - 2) + ["r"]
        steps = [step("s", first, at[0], per)]
        steps += [step(kind, place, place, per) for kind, place in zip(kinds, at[1:], strict=True)]
        own = [] if in_place else [copies(("i", 0), at[0], per)]
        gpus.append([block((g + 1) % n, (g - 1) % n, *steps), *own])
    ways = ("inplace",) if in_place else ("outofplace",)
    return program("allgather", n * per, gpus, (per, n * per, 0), ways)


def doubling_allgather(q):
    """Exchange i moves 2^i chunks both ways over dimension i, a thread block each."""
    gpus = []
    for g in range(1 << q):
        own = []
        for i in range(q):
            mine, other = (("o", at >> i << i) for at in (g, g ^ 1 << i))
            send = step("s", mine, mine, 1 << i, (i - 1, 1) if i else (-1, -1))
            own.append(block(g ^ 1 << i, g ^ 1 << i, send, step("r", other, other, 1 << i)))
        gpus.append(own)
    return program("allgather", 1 << q, gpus, (1, 1 << q, 0))


def direct(coll, n, per=1):
    """Each GPU sends each other one its share: allgather, alltoall."""
    gpus = []
    for g in range(n):
        own = []
        for p in range(n):
            mine = ("i", p * per if coll == "alltoall" else 0)
            send, come = step("s", mine, ("o", g * per), per), ("o", p * per)
            own.append(block(p, p, send, step("r", mine, come, per))
                       if p != g else copies(mine, come, per))  # fmt: skip
        gpus.append(own)
    inputs = n * per if coll == "alltoall" else per
    return program(coll, n * per, gpus, (inputs, n * per, 0), ("outofplace",))


def forwarded_alltoall(n):
    """Every chunk goes round a ring of n through scratch until it is where it belongs."""
    gpus = []
    for g in range(n):
        steps = []
        for d in range(1, n):
            steps.append(step("s", ("i", (g + d) % n), ("s", 0)))
            for k in range(1, d):
                steps += [step("r", ("i", 0), ("s", k)), step("s", ("s", k), ("s", 0))]
            steps.append(step("r", ("i", 0), ("o", (g - d) % n)))
        gpus.append([block((g + 1) % n, (g - 1) % n, *steps), copies(("i", g), ("o", g))])
    return program("alltoall", n, gpus, (n, n, n), ("outofplace",))


def ring_allreduce(n, ways):
    """Once round adding, once round copying: reads inputs, writes outputs, in place or not."""
    gpus = []
    for g in range(n):
        steps = [step("s", ("i", g), ("o", g))]
        for t in range(1, 2 * n - 1):
            kind = "rrs" if t < n - 1 else "rrcs" if t == n - 1 else "rcs"
            c = (g - t) % n
            steps.append(step("r" if t == 2 * n - 2 else kind, ("i", c), ("o", c)))
        gpus.append([block((g + 1) % n, (g - 1) % n, *steps)])
    return program("allreduce", n, gpus, (n, n, 0), ways)


def ring_reducescatter(n, per=1):
    gpus = []
    for g in range(n):
        at = [("i", (g - 1 - t) % n * per) for t in range(n)]
        kinds = ["rrs"] * (n - 2) + ["rrc"]
        steps = [step("s", at[0], at[0], per)]
        steps += [
            step(kind, place, ("o", 0) if kind == "rrc" else place, per)
            for kind, place in zip(kinds, at[1:], strict=True)
        ]
        gpus.append([block((g + 1) % n, (g - 1) % n, *steps)])
    return program("reduce_scatter", n * per, gpus, (n * per, per, 0), ("inplace", "outofplace"))


def direct_reducescatter(n):
    """Each GPU gets its share of all inputs into scratch, and adds up."""
    gpus = []
    for g in range(n):
        peers = [p for p in range(n) if p != g]
        own = [
            block(p, p, step("s", ("i", p), ("s", 0)), step("r", ("i", 0), ("s", at)))
            for at, p in enumerate(peers)
        ]
        adds = [step("re", ("s", at), ("o", 0), 1, (at, 1)) for at in range(n - 1)]
        own.append(block(-1, -1, step("cpy", ("i", g), ("o", 0)), *adds))
        gpus.append(own)
    return program("reduce_scatter", n, gpus, (n, 1, n - 1), ("outofplace",))


def doubling_allreduce(q, per):
    """In exchange i all sums of 2^i inputs meet their neighbours' over dimension i."""
    gpus = []
    for g in range(1 << q):
        own = []
        for i in range(q):
            p, place = g ^ 1 << i, ("i", 0)
            send = step("s", place, place, per, (2 * i - 1, 0) if i else (-1, -1))
            own.append(block(p, p, send, step("r", place, ("s", i * per), per)))
            own.append(block(-1, -1, step("re", ("s", i * per), place, per, (2 * i, 1))))
        gpus.append(own)
    return program("allreduce", per, gpus, (per, per, q * per))


def direct_allreduce(n):
    """Each GPU sends its input to all others; sums are made after all of that."""
    gpus = []
    for g in range(n):
        peers = [p for p in range(n) if p != g]
        own = [
            block(p, p, step("s", ("i", 0), ("s", 0)), step("r", ("i", 0), ("s", at)))
            for at, p in enumerate(peers)
        ]
        waits = [step("nop", ("i", 0), ("i", 0), 0, (at, 1)) for at in range(n - 1)]
        adds = [step("re", ("s", at), ("i", 0)) for at in range(n - 1)]
        gpus.append([*own, block(-1, -1, *waits, *adds)])
    return program("allreduce", 1, gpus, (1, 1, n - 1))


def tree(coll, n, per=1, down=True):
    """Sums go up a binary tree to GPU 0, and for an allreduce down again."""
    gpus, place = [], ("i", 0)
    for g in range(n):
        children = [c for c in (2 * g + 1, 2 * g + 2) if c < n]
        own, above = [], (g - 1) // 2 if g else -1
        for at, c in enumerate(children):
            after = (at - 1, 0) if at else (-1, -1)
            own.append(block(-1, c, step("rrc", place, place, per, after)))
        summed = (len(own) - 1, 0) if own else (-1, -1)
        if g:
            up = [step("s", place, place, per, summed)]
            own.append(block(above, above, *up, *[step("r", place, place, per)] * down))
            summed = len(own) - 1, 1
        for c in children if down else ():
            own.append(block(c, -1, step("s", place, place, per, summed)))
        gpus.append(own)
    return program(coll, per, gpus, (per, per, 0), ("inplace",), **({} if down else {"root": 0}))


def binomial_broadcast(q, per):
    """Who has it sends to the GPUs with one more bit set, the highest bit first."""
    gpus = []
    for g in range(1 << q):
        low = (g & -g).bit_length() - 1 if g else q
        own = [block(-1, g & g - 1, step("r", ("i", 0), ("o", 0), per))] if g else []
        from_ = ("o", 0) if g else ("i", 0)
        for bit in range(low - 1, -1, -1):
            after = (0, 0) if g else (-1, -1)
            own.append(block(g | 1 << bit, -1, step("s", from_, ("o", 0), per, after)))
        gpus.append(own if g else [*own, copies(("i", 0), ("o", 0), per)])
    return program("broadcast", per, gpus, (per, per, 0), ("outofplace",), root=0)


def chain_broadcast(n, per):
    gpus = []
    for g in range(n):
        kind = "s" if g == 0 else "rcs" if g < n - 1 else "r"
        steps = [step(kind, ("o", at), ("o", at)) for at in range(per)]
        gpus.append([block(g + 1 if g < n - 1 else -1, g - 1, *steps)])
    return program("broadcast", per, gpus, (per, per, 0), ("inplace",), root=0)


def chain_scatter(n):
    """GPU 0 sends down a chain what is for the last one first; the others pass it on."""
    gpus = []
    for g in range(n):
        to, steps = g + 1 if g < n - 1 else -1, []
        for c in range(n - 1, g, -1):
            steps += [step("r", ("i", 0), ("s", c))] * (g > 0)
            steps.append(step("s", ("s" if g else "i", c), ("s", c)))
        steps += [step("r", ("i", 0), ("o", 0))] * (g > 0)
        gpus.append([block(to, g - 1, *steps), *[copies(("i", 0), ("o", 0))] * (g == 0)])
    return program("scatter", n, gpus, (n, 1, n), ("outofplace",), root=0)


def chain_gather(n):
    gpus = []
    for g in range(n):
        to, steps = g - 1 if g else -1, [step("s", ("i", 0), ("s", g))] * (g > 0)
        for c in range(g + 1, n):
            place = ("s" if g else "o", c)
            steps.append(step("rcs" if g else "r", place, place))
        come = g + 1 if g < n - 1 else -1
        gpus.append([block(to, come, *steps), *[copies(("i", 0), ("o", 0))] * (g == 0)])
    return program("gather", n, gpus, (1, n, n), ("outofplace",), root=0)


def piece(buffer, index, size=1):
    return {"type": buffer, "index": index, "size": size}


def there(number, index, size=1):
    return {"buffer_id": number, "index": index, "size": size}


def op(name, sources=(), targets=(), channels=None, **more):
    """An operation of a plan."""
    made = {"name": name, "channel_type": "memory"} | more
    if sources:
        made |= {"src_buff": [*sources], "dst_buff": [*targets]}
    return made if channels is None else made | {"channel_ids": [*channels]}


def plan(coll, blocks, sizes, remote, in_place):
    """A plan; channel and remote buffer k of a GPU lead to its k-th other GPU's buffer `remote`."""
    gpus = []
    for gpu, own in enumerate(blocks):
        peers = [p for p in range(len(blocks)) if p != gpu]
        turns = [*range(len(peers))]
        keys = ("input_chunks", "output_chunks", "scratch_chunks")
        gpus.append({
            "id": gpu, **dict(zip(keys, sizes, strict=True)),
            "channels": [{"channel_type": "memory", "connected_to": peers}],
            "remote_buffers": [
                {"rank": p, "type": remote, "access_channel_types": ["memory"]} for p in peers
            ],
            "threadblocks": [
                {"id": number, "ops": ops,
                 "channels": [{"channel_type": "memory", "channel_ids": turns}],
                 "remote_buffer_refs": [
                     {"access_channel_type": "memory", "remote_buffer_ids": turns}]}
                for number, ops in enumerate(own)
            ],
        })  # fmt: skip
    return {"name": "made", "collective": coll, "inplace": in_place, "gpus": gpus}


def put_plan(coll, n, per, in_place=False):
    """Each GPU puts into each other output what belongs there: allgather, alltoall."""
    blocks = []
    for g in range(n):
        ops, peers = [], [p for p in range(n) if p != g]
        own = piece("i", g * per if coll == "alltoall" else 0, per)
        for turn, p in enumerate(peers):
            mine = piece("i", p * per if coll == "alltoall" else 0, per)
            ops.append(op("put", [mine], [there(turn, g * per, per)], [turn]))
        ops += [op("nop"), op("signal", channels=range(n - 1)), op("wait", channels=range(n - 1))]
        ops += [] if in_place else [op("copy", [own], [piece("o", g * per, per)])]
        blocks.append([ops])
    inputs = n * per if coll == "alltoall" else per
    return plan(coll, blocks, (inputs, n * per, 0), "o", in_place)


def get_allreduce_plan(n):
    """A thread block for each other GPU gets its input; one adds up when all have been read."""
    blocks = []
    for _ in range(n):
        adds = [op("re", [piece("i", 0), piece("s", k)], [piece("i", 0)]) for k in range(n - 1)]
        own = [[op("barrier", barrier_id=0), *adds]]
        for k in range(n - 1):
            around = [op("signal", channels=[k]), op("wait", channels=[k])]
            get = op("get", [there(k, 0)], [piece("s", k)], [k])
            own.append([*around, get, *around, op("barrier", barrier_id=0)])
        blocks.append(own)
    return plan("allreduce", blocks, (1, 1, n), "i", True)


def packet_allreduce_plan():
    """Send the other's share by packets, add up one's own, and send the sum back."""
    blocks = []
    for g in range(2):
        own, other = piece("i", g), piece("i", 1 - g)
        blocks.append([[
            op("ppkt", [other], [there(0, 0)]),
            op("respkt", [own, piece("s", 0)], [own, there(0, 1)]),
            op("upkt", [piece("s", 1)], [other]),
        ]])  # fmt: skip
    return plan("allreduce", blocks, (2, 2, 2), "s", True)


def reading_reducescatter_plan(n):
    """Each GPU adds what it reads from the inputs of all others."""
    blocks = []
    for g in range(n):
        around = [op("signal", channels=range(n - 1)), op("wait", channels=range(n - 1))]
        reads = [there(k, g) for k in range(n - 1)]
        blocks.append([[*around, op("rre", [piece("i", g), *reads], [piece("o", 0)])]])
    return plan("reducescatter", blocks, (n, 1, 0), "i", False)


def chain_broadcast_plan(n, per):
    blocks = []
    for g in range(n):
        ops = []
        for at in range(per):
            ops += [op("wait", channels=[g - 1])] * (g > 0)
            if g < n - 1:
                ops += [op("put", [piece("o", at)], [there(g, at)]), op("signal", channels=[g])]
        blocks.append([ops])
    return plan("broadcast", blocks, (per, per, 0), "o", True)


MSCCL = {
    "ring allgather": ring_allgather(4),
    "ring allgather, two buffers": ring_allgather(3, 2, in_place=False),
    "doubling allgather": doubling_allgather(3),
    "direct allgather": direct("allgather", 4, 2),
    "direct alltoall": direct("alltoall", 4),
    "forwarded alltoall": forwarded_alltoall(4),
    "ring allreduce": ring_allreduce(4, ("inplace",)),
    "ring allreduce, both ways": ring_allreduce(3, ("inplace", "outofplace")),
    "doubling allreduce": doubling_allreduce(2, 2),
    "direct allreduce": direct_allreduce(3),
    "tree allreduce": tree("allreduce", 6, 2),
    "tree reduce": tree("reduce", 7, down=False),
    "ring reducescatter": ring_reducescatter(4, 2),
    "direct reducescatter": direct_reducescatter(4),
    "binomial broadcast": binomial_broadcast(3, 1),
    "chain broadcast": chain_broadcast(4, 3),
    "chain scatter": chain_scatter(4),
    "chain gather": chain_gather(4),
}

PLANS = {
    "put allgather": put_plan("allgather", 3, 2),
    "put allgather in place": put_plan("allgather", 4, 1, in_place=True),
    "put alltoall": put_plan("alltoall", 3, 1),
    "get allreduce": get_allreduce_plan(3),
    "packet allreduce": packet_allreduce_plan(),
    "reading reducescatter": reading_reducescatter_plan(3),
    "chain broadcast by plan": chain_broadcast_plan(3, 2),
}


def changed(made, draw):
    """A copy of a program of MSCCL with one mistake, or with one change that does no harm."""
    made = copy.deepcopy(made)
    blocks = [each for gpu in made["gpus"] for each in gpu if each["steps"]]
    one = draw.choice(blocks)
    steps = one["steps"]
    at = draw.randrange(len(steps))
    kinds = [("r", "rrc"), ("rcs", "rrcs", "rrs"), ("cpy", "re"), ("s",), ("nop",)]
    change = draw.choice([
        "srcoff", "dstoff", "dstoff", "srcbuf", "dstbuf", "cnt", "type", "drop", "swap", "places",
        "depid", "deps", "again", "chan", "peer",
    ])  # fmt: skip
    given = steps[at]
    if change in ("srcoff", "dstoff", "cnt"):
        given[change] = max(0, given[change] + draw.choice([-2, -1, 1, 2]))
    elif change in ("srcbuf", "dstbuf"):
        given[change] = draw.choice("ios".replace(given[change], ""))
    elif change == "type":
        given["type"] = draw.choice(next(each for each in kinds if given["type"] in each))
    elif change == "drop":
        del steps[at]
    elif change == "again":
        steps.insert(at, dict(given))
    elif change in ("swap", "places"):
        other = steps[draw.randrange(len(steps))]
        keys = [*given] if change == "swap" else ["dstbuf", "dstoff"]
        for key in keys:
            given[key], other[key] = other[key], given[key]
    elif change in ("depid", "deps"):
        given["depid"], given["deps"] = (-1, -1) if change == "depid" else (draw.randrange(3), 0)
    elif change == "chan":
        one["chan"] += 1
    else:
        other = draw.choice(blocks)
        for key in ("send", "recv"):
            one[key], other[key] = other[key], one[key]
    return made


def changed_plan(made, draw):
    """A copy of a plan of MSCCL++ with one mistake, or with one change that does no harm."""
    made = copy.deepcopy(made)
    one = draw.choice([each for gpu in made["gpus"] for each in gpu["threadblocks"]])
    ops = one["ops"]
    at = draw.randrange(len(ops))
    ends = [ref for key in ("src_buff", "dst_buff") for ref in ops[at].get(key, [])]
    change = draw.choice(["drop", "swap", "again", "index", "index", "buffer", "size", "channel"])
    if change == "drop":
        del ops[at]
    elif change == "again":
        ops.insert(at, copy.deepcopy(ops[at]))
    elif change == "swap" or not ends:
        other = draw.randrange(len(ops))
        ops[at], ops[other] = ops[other], ops[at]
    elif change == "index":
        ref = draw.choice(ends)
        ref["index"] = max(0, ref["index"] + draw.choice([-1, 1]))
    elif change == "buffer":
        ref = draw.choice(ends)
        key = "type" if "type" in ref else "buffer_id"
        ref[key] = draw.choice("ios") if key == "type" else max(0, ref[key] + draw.choice([-1, 1]))
    elif change == "size":
        for ref in ends:
            ref["size"] += 1
    return made


def written(made):
    """The text of a program, and the ending of its file's name."""
    return (xml(made), ".xml") if "header" in made else (json.dumps(made), ".json")
