"""Command lines as people, scripts and attackers type them: right ones and wrong ones."""

import argparse
from random import Random

from mpinet.cli.commands import COMMANDS, module_of
from mpinet.networks.catalogue import families

NETWORKS = [family.example for family in families() if family.name != "graph"]

SMALL = [
    "ring:8", "hypercube:4", "torus:3x4", "mesh:2x3", "complete:5", "ccc:3", "debruijn:4",
    "fattree:2,3", "lens:2,2,2", "hdn:2x3,super=0.1/0.1", "gmn:32", "bsn:1,2,4", "ring:4*mesh:2x2",
]  # fmt: skip

HOSTILE = [
    "", " ", "-", "--", "0", "-1", "²", "٣", "1.5", "nan", "inf", "1e999", "0x10", "9" * 30,
    "9" * 5000, str(2**31), str(2**63), str(2**64), "a" * 5000, "\udcff", "é", "\n", "'", '"', "%s",
    "{}", "*", "ring", ":", "::", ",", "=", "node:", "link:", "link:0-", "node:0,link:0-1",
    "random:0", "random:5", "hotspot:0", "hotspot:99", "all", "0,1", "[[[[", "x=1", "x=[",
    "/dev/null", "/", ".", "..", "no/such.csv", "a.json", "a.csv", "a.txt", "shift:-5",
]  # fmt: skip

LEFT_OUT = {"bench", "verify"}
"""Commands that take minutes whatever they are given."""

PROGRAM = "mpinet.examples.flood:flood"


def line(random: Random) -> list[str]:
    """One command line."""
    command = random.choice([name for name in COMMANDS if name not in LEFT_OUT])
    words = [command, *arguments(random, command)]
    if random.random() < 0.1:
        words[random.randrange(len(words))] = random.choice(HOSTILE)
    if random.random() < 0.05:
        del words[random.randrange(len(words))]
    return [word.replace("\0", "") for word in words]


def arguments(random: Random, command: str) -> list[str]:
    """What follows a command: its own options, read off its parser, with values of all kinds."""
    parser = argparse.ArgumentParser()
    if command == "predict":
        predicted = random.choice(["route", "flood", "broadcast", "ascend"])
        rest = arguments(random, predicted)
        return [predicted, *rest, "--ranks", random.choice(["2", "5", *HOSTILE])]
    module_of(command).add_options(parser)
    words, script = [], []
    for action in parser._actions:
        if action.dest in ("help", "module", "code"):
            continue
        if action.dest == "script":
            script = ["-c", random.choice(["pass", "import mpi4py.MPI", "print(1)", "raise 5"])]
        elif not action.option_strings:
            words.append(value(random, action))
        elif action.required or random.random() < 0.15:
            words.append(random.choice(action.option_strings))
            if action.nargs != 0 and not isinstance(action, argparse.BooleanOptionalAction):
                words.append(value(random, action))
    return words + script


def value(random: Random, action: argparse.Action) -> str:
    """A value of an option or a place: most often one that is allowed."""
    if random.random() < 0.1:
        return random.choice(HOSTILE)
    if action.choices:
        return random.choice(list(map(str, action.choices)))
    if action.dest in ("topology", "guest"):
        return network(random)
    if action.dest == "program":
        return PROGRAM
    if action.dest == "operator":
        return random.choice(["sum", "prefix", "fft", "bitonic-sort", "shift:3", "transpose:4x4"])
    return str(random.choice([0, 1, 2, 3, 7, 64, *HOSTILE]))


def network(random: Random) -> str:
    """A topology string: an example, a small one, or one of these with a few characters changed."""
    text = random.choice(SMALL if random.random() < 0.6 else NETWORKS)
    if random.random() < 0.15:
        text = f"{text}*{random.choice(SMALL)}"
    for _ in range(random.choice([0, 0, 0, 1, 1, 3])):
        text = changed(random, text)
    return text


def changed(random: Random, text: str) -> str:
    """A text with one place of it changed."""
    at = random.randrange(len(text) + 1)
    put = random.choice(["", *"0123456789:,=*x-.", "99", "²", random.choice(HOSTILE)])
    return text[:at] + put + text[at + random.choice([0, 1]) :]
