"""What these pages say of the commands, made from their functions.

The table in docs/contract.md, 3: how a command is typed is its signature, and what its result holds
the section Returns of its docstring. ``python docs/_extensions/contract.py`` writes the table into
the page; a test holds the page to it. The directive ``commands``: all functions, documented.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from mpinet.commands import function_of
from mpinet.commands.catalogue import ALIASES, COMMANDS, TYPED_ALONE
from mpinet.commands.options import Common, OnMachine, SavedOften, Views
from mpinet.commands.signature import EMPTY, REST, Option, fields_of, returned, signature_of

PAGE = (Path(__file__).parents[1] / "contract").with_suffix(".md")

SHARED = {
    option.name for group in (OnMachine, Views, SavedOften, Common) for option in fields_of(group)
}
"""Options that section 2 of the page is about."""

HEAD = "| command | fields |\n|---|---|\n"


def table() -> str:
    """The table, a row a command."""
    rows = [f"| {_usage(command)} | {_fields(command)} |\n" for command in COMMANDS]
    return HEAD + "".join(rows)


def page() -> str:
    """The page, with the table as it has to be."""
    text = PAGE.read_text()
    begin = text.index(HEAD)
    end = text.index("\n\n", begin) + 1
    return text[:begin] + table() + text[end:]


def _usage(command: str) -> str:
    """How a command is typed, without the options that it shares with others."""
    said = signature_of(function_of(command))
    on_machine = any(option.name == "duplex" for option in said.options)
    own = [one for one in [*said.options, *said.alone] if not _is_shared(one, on_machine)]
    own.sort(key=lambda option: (bool(option.words), option.typed.words != ()))
    options = " ".join(map(_typed, own))
    text = f"{command} {said.usage.splitlines()[0] if said.usage else options}"
    if said.onward:
        text = text.replace(" --", " .. --", 1)
    if said.usage:
        others = [_typed(one) for one in own if one.words and one.typed.many != REST]
        text = text.replace("[options]", " ".join(word for word in others if word[0] == "["))
    text = text.strip().replace("|", "\\|")
    also = [f"`{name}`" for name, meant in ALIASES.items() if meant == command]
    return ", also ".join([f"`{text}`", *([", ".join(also)] if also else [])])


def _is_shared(option: Option, on_machine: bool) -> bool:
    """Whether section 2 says it, or nobody types it."""
    if option.typed.hidden or option.typed.within or option.name == "seed":
        return True
    if option.name == "ports":
        return on_machine
    return option.heading != "" and option.name in SHARED


def _typed(option: Option) -> str:
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


def _fields(command: str) -> str:
    """What its result holds, in the page's own markup."""
    text = returned(function_of(command).__doc__ or "").rstrip(".").replace("``", "`")
    text = re.sub(r"docs/([\w-]+/)?([\w-]+)", r"[\2](\1\2.md)", text)
    return text.replace("|", "\\|")


def setup(app: Any) -> dict[str, bool]:
    """Make the directive ``{commands}`` known to Sphinx."""
    from sphinx.util.docutils import SphinxDirective

    class Commands(SphinxDirective):
        """``{commands}``: every command that is a function of `mpinet`."""

        def run(self) -> list[Any]:
            functions = [function_of(name) for name in COMMANDS if name not in TYPED_ALONE]
            names = [f".. autofunction:: {one.__module__}.{one.__name__}\n" for one in functions]
            nodes: list[Any] = self.parse_text_to_nodes(
                "```{eval-rst}\n" + "".join(names) + "```\n"
            )
            return nodes

    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    PAGE.write_text(page())
