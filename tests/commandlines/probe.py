"""Print the options of all commands of the mpinet that is imported, as the parser has them.

It runs ``mpinet COMMAND --help``, and looks at the parser whose help is asked for.
"""

import argparse
import json
import re
import subprocess
import sys
from typing import Any

found: dict[str, list[list[str]]] = {}
command = ""


def note(parser: argparse.ArgumentParser, file: Any = None) -> None:
    """Note the spellings of the parser's options in place of printing its help."""
    actions = parser._actions
    found[command] = [[*action.option_strings] for action in actions if action.option_strings]


def main() -> None:
    """Ask for the help of every command."""
    global command
    from mpinet.cli import main as run
    from mpinet.commands.catalogue import COMMANDS

    argparse.ArgumentParser.print_help = note  # type: ignore[method-assign]
    for command in [*COMMANDS, "predict flood"]:
        if command == "launch":  # it becomes another program
            continue
        try:
            run([*command.split(), "--help"])
        except SystemExit as ended:
            assert not ended.code, command
    words = [sys.executable, "-m", "mpinet", "launch", "--help"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    found["launch"] = [[word] for word in sorted({*re.findall(r"(?<!\S)--?[a-z][a-z-]*", text)})]
    played = found.pop("predict flood")
    found["predict"] += [spellings for spellings in played if spellings not in found["flood"]]
    json.dump(found, sys.stdout)


main()
