"""A page per command, made from its function in every build: reference/commands/NAME.md.

The function's signature and docstring are the one truth: how the command is typed, its options,
what its result holds, how Python calls it. What else is on a page are links to the pages that
use the command.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from contract import SHARED, fields_of_result, typed, usage_of
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import mpinet
from mpinet.commands import function_of
from mpinet.commands.catalogue import ALIASES, COMMANDS
from mpinet.commands.optionrecords import Option
from mpinet.commands.signature import listed_in_help, signature_of

DOCS = Path(__file__).parents[1]
FOLDER = DOCS / "reference" / "commands"

SHARED_PAGE = "{ref}`common options <contract-2>`"


def file_of(command: str) -> str:
    """The name of a command's page."""
    return command.replace(" ", "-")


def python_name(command: str) -> str:
    """How Python calls a command: ``mpinet.route``; empty where it does not."""
    name = "mpinet." + command.replace(" ", ".")
    found: Any = mpinet
    for part in command.split():
        found = getattr(found, part, None)
    return name if found is function_of(command) else ""


def page_of(command: str, users: list[str]) -> str:
    """The page of a command, in the pages' markup."""
    sentence = COMMANDS[command]
    name = python_name(command)
    parts = [
        f"(command-{file_of(command)})=",
        f"# {name or f'mpinet {command}'}",
        f"{sentence[0].upper()}{sentence[1:]}.",
        f"```text\nmpinet {usage_of(command)}\n```",
    ]
    also = [f"`{word}`" for word, meant in ALIASES.items() if meant == command]
    if also:
        parts.append(f"Also: {', '.join(also)}.")
    parts += _options(command)
    if fields := fields_of_result(command):
        parts += ["## Result", f"Its fields: {fields}.".replace("](", "](../../")]
    if name:
        room, _, function = name.rpartition(".")
        directive = f".. currentmodule:: {room}\n\n.. autofunction:: {function}"
        parts += ["## In Python", f"```{{eval-rst}}\n{directive}\n```"]
    if users:
        parts += ["## Pages that use it", *[f"- {{doc}}`/{user}`" for user in users]]
    return "\n\n".join(parts).replace("`\n\n- {doc}", "`\n- {doc}") + "\n"


def _options(command: str) -> list[str]:
    """The table of a command's options, those that it shares with many at its end in one line."""
    said = signature_of(function_of(command))
    every = [option for option in (*said.options, *said.alone) if _is_typed(option)]
    own = [option for option in every if not _is_shared(option)]
    shared = [option.words[0] for option in every if _is_shared(option) and option.words]
    parts = []
    if own:
        rows = [f"| `{_cell(typed(option))}` | {_help(option)} |" for option in own]
        parts += ["## Options", "\n".join(["| option | meaning |", "|---|---|", *rows])]
    if said.is_onward:
        parts.append("The options of the command that the first word names follow.")
    if shared:
        words = ", ".join(f"`{word}`" for word in shared)
        parts.append(f"Also the {SHARED_PAGE}: {words}.")
    return parts


def _cell(text: str) -> str:
    """A text in a cell of a table."""
    return text.replace("|", "\\|")


def _is_typed(option: Option) -> bool:
    return not (option.typed.hidden or option.typed.within)


def _is_shared(option: Option) -> bool:
    return option.name == "seed" or (option.heading != "" and option.name in SHARED)


def _help(option: Option) -> str:
    """What an option means, its choices and its default."""
    text = option.help.rstrip(".").replace("``", "`").replace("|", "\\|")
    text = re.sub(r"(?<![`\w])`(\w+)`", r"`\1`", text)
    if listed := listed_in_help(option):
        words = re.split(r"[|\n]|, ", listed)
        text += f": {', '.join(f'`{word.strip()}`' for word in words if word.strip())}"
    default = option.default
    if option.words and isinstance(default, str | int | float) and not isinstance(default, bool):
        text += f" (default: `{default}`)" if "default" not in text else ""
    return f"{text}." if text else ""


def users_of(command: str) -> list[str]:
    """The tutorials and how-to pages on which a command is typed or called."""
    word = re.escape(command)
    called = re.escape(command.replace(" ", "."))
    use = re.compile(rf"mpinet (?:launch -n \d+ )?{word}\b|mpinet\.{called}\(")
    pages = [*sorted(DOCS.glob("tutorials/*.md")), *sorted(DOCS.glob("how-to/*.md"))]
    return [
        str(page.relative_to(DOCS).with_suffix(""))
        for page in pages
        if use.search(page.read_text())
    ]


def write_pages(app: Any = None) -> None:
    """Write the pages that are new or have changed, and delete those of commands that are gone."""
    FOLDER.mkdir(exist_ok=True)
    pages = {f"{file_of(name)}.md": page_of(name, users_of(name)) for name in COMMANDS}
    for old in {path.name for path in FOLDER.glob("*.md")} - set(pages):
        (FOLDER / old).unlink()
    for name, text in pages.items():
        file = FOLDER / name
        if not file.exists() or file.read_text() != text:
            file.write_text(text)


def index() -> str:
    """The table of all commands, and the list by which the site's menu has their pages."""
    rows = [
        f"| {{doc}}`{name} <commands/{file_of(name)}>` | {COMMANDS[name]} |" for name in COMMANDS
    ]
    files = [f"mpinet {name} <commands/{file_of(name)}>" for name in COMMANDS]
    table = "\n".join(["| command | what it does |", "|---|---|", *rows])
    return f"{table}\n\n```{{toctree}}\n:hidden:\n\n" + "\n".join(files) + "\n```\n"


class Commands(SphinxDirective):
    """``{commands}``: every command with its sentence and its page."""

    def run(self) -> list[nodes.Node]:
        """Make the table anew in every build: it depends on code."""
        self.env.note_reread()
        return self.parse_text_to_nodes(index())


def setup(app: Any) -> dict[str, bool]:
    """Make the directive known, and write the pages before Sphinx looks for them."""
    app.add_directive("commands", Commands)
    app.connect("builder-inited", write_pages)
    return {"parallel_read_safe": True}
