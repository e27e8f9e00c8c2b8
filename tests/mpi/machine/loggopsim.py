"""Random GOAL programs for comparisons with LogGOPSim, and LogGOPSim itself.

Kinds of programs:

* chain: each operation requires the one before.
* dag: 4 of 5 operations require one of the last three.
* mix: dag with irequires, few tags, any source, and messages to oneself.
* ties: mix with few and round times.
* rendezvous: dag with irequires and small S.
* wide: one step issues up to 40 operations.
* lanes: two CPUs; every requirement and message stays on one.
"""

from __future__ import annotations

import random
import re
import subprocess
from pathlib import Path

CALCS = {"chain": [1, 10, 503, 20011], "ties": [0, 10, 20, 100]}


def program(kind: str, seed: int) -> list[list]:
    """Per rank: operations [text, [(word, number of an earlier operation), ..]]."""
    r = random.Random(f"{kind} {seed}")
    ranks = r.choice([2, 3, 4, 6] if kind != "chain" else [2, 3, 4, 6, 8, 12])
    ops: list[list] = [[] for _ in range(ranks)]
    sizes = {"ties": [1, 11]}.get(kind, [1, 8, 100, 1000])
    several = 3 if kind in ("mix", "wide", "ties") else 0  # few tags: the order of matching counts

    def add(p, text):
        needs, i = [], len(ops[p])
        if kind == "chain":
            needs = [("requires", i - 1)] if i else []
        elif kind == "wide":  # groups of up to 40 operations that one operation releases
            base = i - i % 40 - 1
            if base >= 0 and r.random() < 0.9:
                needs = [("requires", base)]
        elif kind == "lanes":
            mine = [j for j in range(i) if ops[p][j][0].endswith(f"cpu {lane}")][-3:]
            needs = (
                [(r.choice(["requires", "irequires"]), r.choice(mine))]
                if mine and r.random() < 0.8
                else []
            )
        elif i:
            for _ in range(1 if r.random() < 0.9 or kind == "dag" else 2):
                if r.random() < 0.8:
                    word = "irequires" if kind != "dag" and r.random() < 0.4 else "requires"
                    needs.append((word, r.randrange(max(0, i - 3), i)))
        if kind == "lanes":
            text += f" cpu {lane}"
        ops[p].append([text, needs])

    for m in range(r.choice({"chain": [10, 40, 120], "wide": [60, 150]}.get(kind, [5, 15, 40]))):
        lane = r.randrange(2)
        if r.random() < 0.4:
            add(r.randrange(ranks), f"calc {r.choice(CALCS.get(kind) or [r.randrange(1, 5000)])}")
        else:
            a, b = r.sample(range(ranks), 2)
            b = a if kind in ("mix", "ties") and r.random() < 0.05 else b
            size, tag = r.choice(sizes), r.randrange(several) if several else m
            source = -1 if several and kind != "wide" and r.random() < 0.1 else a
            add(a, f"send {size}b to {b} tag {tag}")
            add(b, f"recv {size}b from {source} tag {tag}")
    return ops


def settings(kind: str, seed: int) -> dict:
    r = random.Random(seed)
    if kind == "ties":
        found = {"L": r.choice([10, 100]), "o": r.choice([0, 10]), "g": r.choice([0, 10])}
        return found | {"G": 1, "O": r.choice([0, 1])}
    found = {
        "L": r.choice([1, 100, 2500]),
        "o": r.choice([10, 200, 1500]),
        "g": r.choice([0, 1000, 5000]),
    }
    found |= {"G": r.choice([0, 1, 6]), "O": r.choice([0, 0, 1, 3])}
    if kind == "rendezvous":
        found["S"] = r.choice([1, 8, 100])
    return found


def text_of(ops: list[list]) -> str:
    lines = [f"num_ranks {len(ops)}"]
    for p, here in enumerate(ops):
        lines.append(f"rank {p} {{")
        for i, (text, needs) in enumerate(here):
            lines.append(f"l{i}: {text}")
            lines += [f"l{i} {word} l{j}" for word, j in needs]
        lines.append("}")
    return "\n".join(lines) + "\n"


class Peer:
    """LogGOPSim, built with std::stable_sort, and its converter txt2bin in the same folder."""

    def __init__(self, binary: Path, folder: Path):
        self.binary, self.converter, self.folder = binary, binary.with_name("txt2bin"), folder

    def converted(self, text: str) -> Path:
        """The program as binary GOAL."""
        source, schedule = self.folder / "x.goal", self.folder / "x.bin"
        source.write_text(text)
        words = [self.converter, "-i", source, "-o", schedule]
        subprocess.run(words, check=True, capture_output=True)
        return schedule

    def ends(self, schedule: Path, options: dict) -> list[int] | None:
        """The ends of all hosts; None if the program is stuck, or leaves messages over."""
        options = {"S": 10**9} | options
        arguments = [
            word for letter, value in options.items() for word in (f"-{letter}", str(value))
        ]
        answer = subprocess.run(
            [self.binary, "-f", schedule, *arguments], capture_output=True, text=True, timeout=60
        )
        return [int(end) for end in re.findall(r"Host \d+: (\d+)", answer.stdout)] or None
