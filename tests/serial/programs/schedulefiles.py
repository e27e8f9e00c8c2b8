"""Schedules written by hand in each format, from what the formats' owners say of them."""

import json


def csv_file(rows, **header):
    """A CSV file of rows (step, from, to, chunk) or with op."""
    columns = "step,from,to,chunk" + (",op" if rows and len(rows[0]) > 4 else "")
    lines = [f"# {key}: {json.dumps(value)}" for key, value in header.items()]
    return "\n".join([*lines, columns, *(",".join(map(str, row)) for row in rows), ""])


def ring_rows(size):
    """A ring allgather: in step t+1 everybody passes on what began t places before."""
    return [
        (t + 1, u, (u + 1) % size, (u - t) % size) for t in range(size - 1) for u in range(size)
    ]


def step(s, kind, source, target, depid=-1, deps=-1, cnt=1):
    """A step of MSCCL; source and target are a buffer and an offset."""
    return (
        f'<step s="{s}" type="{kind}" srcbuf="{source[0]}" srcoff="{source[1]}" '
        f'dstbuf="{target[0]}" dstoff="{target[1]}" cnt="{cnt}" depid="{depid}" deps="{deps}" '
        'hasdep="0"/>'
    )


def algo(coll, gpus, loop, blocks, inplace=1):
    """An algorithm; blocks[gpu] is a list of (send, recv, steps)."""
    lines = [
        f'<algo name="x" proto="Simple" nchannels="1" nchunksperloop="{loop}" ngpus="{gpus}" '
        f'coll="{coll}" inplace="{inplace}">'
    ]
    for gpu in range(gpus):
        sizes = 'i_chunks="{0}" o_chunks="{0}" s_chunks="{0}"'.format(max(loop, gpus))
        lines.append(f'<gpu id="{gpu}" {sizes}>')
        for number, (send, receive, steps) in enumerate(blocks[gpu]):
            lines.append(f'<tb id="{number}" send="{send}" recv="{receive}" chan="0">')
            lines += [*steps, "</tb>"]
        lines.append("</gpu>")
    return "\n".join([*lines, "</algo>"])


def ring_allgather(n):
    """One block a GPU: send one's own, then receive, copy and send what comes."""
    blocks = []
    for g in range(n):
        steps = [step(0, "s", ("o", g), ("o", g))]
        for t in range(1, n):
            chunk = (g - t) % n
            kind = "rcs" if t < n - 1 else "r"
            steps.append(step(t, kind, ("o", chunk), ("o", chunk)))
        blocks.append([((g + 1) % n, (g - 1) % n, steps)])
    return algo("allgather", n, n, blocks)


def ring_allreduce(n):
    """Once round with rrs, then once round with rcs."""
    blocks = []
    for g in range(n):
        steps = [step(0, "s", ("o", g), ("o", g))]
        for t in range(1, n):
            chunk = (g - t) % n
            kind = "rrs" if t < n - 1 else "rrcs"
            steps.append(step(t, kind, ("o", chunk), ("o", chunk)))
        for t in range(n, 2 * n - 1):
            chunk = (g - t) % n
            kind = "rcs" if t < 2 * n - 2 else "r"
            steps.append(step(t, kind, ("o", chunk), ("o", chunk)))
        blocks.append([((g + 1) % n, (g - 1) % n, steps)])
    return algo("allreduce", n, n, blocks)


def recursive_doubling(q):
    """An allgather in q exchanges: in exchange i, 2^i chunks go both ways over dimension i."""
    n = 1 << q
    blocks = []
    for g in range(n):
        own = []
        for i in range(q):
            peer, size = g ^ (1 << i), 1 << i
            mine, other = (g >> i) << i, (peer >> i) << i
            waits = (i - 1, 1) if i else (-1, -1)
            steps = [
                step(0, "s", ("o", mine), ("o", mine), *waits, cnt=size),
                step(1, "r", ("o", other), ("o", other), cnt=size),
            ]
            own.append((peer, peer, steps))
        blocks.append(own)
    return algo("allgather", n, n, blocks)


def all_pairs(n):
    """Each GPU sends its chunk to all others, a block a peer, and copies it to its own output."""
    blocks = [
        [
            (p, p, [step(0, "s", ("i", 0), ("o", g)), step(1, "r", ("i", 0), ("o", p))])
            if p != g
            else (-1, -1, [step(0, "cpy", ("i", 0), ("o", g))])
            for p in range(n)
        ]
        for g in range(n)
    ]
    return algo("allgather", n, n, blocks, inplace=0)


def all_pairs_allreduce(n):
    """Each GPU sends its input to all others, and then adds what has come to it."""
    blocks = []
    for g in range(n):
        peers = [p for p in range(n) if p != g]
        own = [(p, -1, [step(0, "s", ("i", 0), ("s", 0))]) for p in peers]
        own += [(-1, p, [step(0, "r", ("i", 0), ("s", at))]) for at, p in enumerate(peers)]
        sums = [step(at, "nop", ("i", 0), ("i", 0), at, 0, cnt=0) for at in range(n - 1)]
        sums += [step(n - 1 + at, "re", ("s", at), ("i", 0), n - 1 + at, 0) for at in range(n - 1)]
        blocks.append([*own, (-1, -1, sums)])
    return algo("allreduce", n, 1, blocks)


def binomial_goal(q):
    """A broadcast from rank 0: who has it sends to the ranks with one more bit set, high first."""
    n = 1 << q
    lines = [f"num_ranks {n}", ""]
    for rank in range(n):
        lines.append(f"rank {rank} {{")
        low = (rank & -rank).bit_length() - 1 if rank else q
        if rank:
            lines.append(f"r: recv 8b from {rank & (rank - 1)} tag 0 cpu 0 nic 0")
        for bit in range(low - 1, -1, -1):
            lines.append(f"s{bit}: send 8b to {rank | 1 << bit} tag 0 cpu 0 nic 0")
            if rank:
                lines.append(f"s{bit} requires r")
        lines.append("}")
    return "\n".join(lines) + "\n"


def forest(trees):
    """ForestColl's XML of trees (root, chunks, paths)."""
    lines = ["<trees>"]
    for root, chunks, paths in trees:
        lines.append(f'<tree root="{root}" index="0" nchunks="{chunks}" height="2">')
        for path in paths:
            hops = ",".join(map(str, path))
            lines.append(f'<send src="{path[0]}" dst="{path[-1]}" path="{hops}"/>')
        lines.append("</tree>")
    return "\n".join([*lines, "</trees>"])
