"""What these pages say of the commands, made from their functions.

The commands in docs/contract.md, 3: how each is typed is its signature, and what its result holds
the section Returns of its docstring. ``python docs/_extensions/contract.py`` writes them into
the page; a test holds the page to it.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import fill

from mpinet.commands import function_of
from mpinet.commands.catalogue import ALIASES, COMMANDS
from mpinet.commands.options import Common, OnMachine, SavedOften, Views
from mpinet.commands.signature import EMPTY, REST, Option, fields_of, returned, signature_of

PAGE = (Path(__file__).parents[1] / "contract").with_suffix(".md")

SHARED = {
    option.name for group in (OnMachine, Views, SavedOften, Common) for option in fields_of(group)
}
"""Options that section 2 of the page is about."""

BEGIN = "\n<!-- commands: made by docs/_extensions/contract.py -->\n"
END = "\n<!-- end of commands -->\n"

WIDTH = 80
"""Of a line of a usage, in characters."""


def sections() -> str:
    """The commands, a section each."""
    return "\n".join(map(_section, COMMANDS))


def page() -> str:
    """The page, with the commands as they have to be."""
    before, _, rest = PAGE.read_text().partition(BEGIN)
    return f"{before}{BEGIN}\n{sections()}{END}{rest.partition(END)[2]}"


def _section(command: str) -> str:
    """How a command is typed, and what its result holds."""
    also = [f"`{name}`" for name, meant in ALIASES.items() if meant == command]
    text = f"### {command}\n\n```text\n{usage_of(command)}\n```\n\n"
    if also:
        text += f"Also {', '.join(also)}. "
    fields = fields_of_result(command)
    return f"{text}Result: {fields}.\n" if fields else f"{text}It prints what it does.\n"


def usage_of(command: str) -> str:
    """How a command is typed, without the options that it shares with others, in short lines."""
    said = signature_of(function_of(command))
    on_machine = any(option.name == "duplex" for option in said.options)
    own = [one for one in [*said.options, *said.alone] if not _is_shared(one, on_machine)]
    own.sort(key=lambda one: (bool(one.words), one.typed.words != () or one in said.alone))
    words = [typed(option) for option in own]
    if said.usage:
        others = [typed(one) for one in own if one.words and one.typed.many != REST]
        options = "\0".join(word for word in others if word[0] == "[")
        words = said.usage.splitlines()[0].replace("[options]", options).split("\0")
    text = f"{command} {' '.join(word.replace(' ', NARROW) for word in words)}".strip()
    if said.onward:
        text = text.replace(" --", " .. --", 1)
    return fill(
        text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    ).replace(NARROW, " ")


NARROW = "\u00a0"
"""A blank at which no line ends."""


def _is_shared(option: Option, on_machine: bool) -> bool:
    """Whether section 2 says it, or nobody types it."""
    if option.typed.hidden or option.typed.within or option.name == "seed":
        return True
    if option.name == "ports":
        return on_machine
    return option.heading != "" and option.name in SHARED


def typed(option: Option) -> str:
    """An option as a line of help has it."""
    metavar = option.metavar if isinstance(option.metavar, str) else " ".join(option.metavar)
    value = "|".join(map(str, option.choices)) or metavar
    needed = option.typed.required or option.default is EMPTY
    several = option.is_several and option.typed.many != REST
    if not option.words:
        text = value + " .." * several
        return text if needed else f"[{text}]"
    text = option.words[0]
    if not option.is_flag:
        text += f" {value}"
    elif option.default is None:
        text = text.replace("--", "--[no-]", 1)
    return text if needed else f"[{text}]" + " .." * several


def fields_of_result(command: str) -> str:
    """What its result holds, in the page's own markup."""
    text = returned(function_of(command).__doc__ or "").rstrip(".").replace("``", "`")
    text = re.sub(r"docs/([\w-]+/)?([\w-]+)", r"[\2](\1\2.md)", text)
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
