"""A page per command, made from its function in every build: reference/commands/NAME.md.

The function's signature and docstring are the only source of usage, options, result and Python
call. A page begins with the examples of the command's help and their real outputs. It ends with
links to the tutorials and how-to pages that use the command.
"""

from __future__ import annotations

import re
from contextlib import redirect_stdout, suppress
from io import StringIO
from pathlib import Path
from typing import Any

from commandexamples import examples_of, outputs
from contract import fields_of_result, usage_of
from docutils import nodes
from sphinx.util.docutils import SphinxDirective

import mpinet
from mpinet.cli.commands import parse
from mpinet.cli.parser import grouped, is_shared
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


def page_of(command: str, users: list[str], outputs: list[str]) -> str:
    """Return the page of a command in Markdown, with its examples and their outputs."""
    sentence = COMMANDS[command]
    parts = [
        f"(command-{file_of(command)})=",
        f"# mpinet {command}",
        f"{sentence[0].upper()}{sentence[1:]}.",
        "## Examples",
        *map(_example, examples_of(command), outputs),
        f"Tutorial: {{doc}}`/{_tutorial(command, users)}`.",
        "## Usage",
        f"```text\n{_usage(command)}\n```",
    ]
    also = [f"`{word}`" for word, meant in ALIASES.items() if meant == command]
    if also:
        parts.append(f"Also: {', '.join(also)}.")
    parts += _options(command)
    if fields := fields_of_result(command):
        parts += ["## Result", f"Its fields: {fields}.".replace("](", "](../../")]
    if name := python_name(command):
        room, _, function = name.rpartition(".")
        directive = f".. currentmodule:: {room}\n\n.. autofunction:: {function}"
        parts += ["## In Python", f"```{{eval-rst}}\n{directive}\n```"]
    if users:
        parts += ["## Pages that use it", "\n".join(f"- {{doc}}`/{user}`" for user in users)]
    return "\n\n".join(parts) + "\n"


def _example(line: str, output: str) -> str:
    """Return a block with a command line and its output."""
    head = ["```{code-block} text", ":class: example", ""]
    return "\n".join([*head, f"$ {line}", *output.splitlines(), "```"])


def _usage(command: str) -> str:
    """Return the usage of a command's help, in which ``[options]`` stands for all options."""
    with redirect_stdout(StringIO()) as shown, suppress(SystemExit):
        parse([*command.split(), "--help"])
    found = re.match(r".*?usage: (.*?)\n\n", shown.getvalue(), re.DOTALL)
    return found[1] if found else f"mpinet {usage_of(command)}"


def _tutorial(command: str, users: list[str]) -> str:
    """Return the tutorial that uses a command most often; the first tutorial if none does."""
    use = use_of(command)
    tutorials = [page for page in users if page.startswith("tutorials/")]
    return max(
        tutorials,
        key=lambda page: len(use.findall((DOCS / f"{page}.md").read_text())),
        default="tutorials/ten-minutes",
    )


def _options(command: str) -> list[str]:
    """Return the options of a command as definition lists, in the groups of its help."""
    said = signature_of(function_of(command))
    parts = []
    for title, options in grouped(said).items():
        if described := [option for option in options if option.help]:
            heading = f"### {title[0].upper()}{title[1:]}" if title else ""
            parts += [heading] * bool(title) + [_definition(option) for option in described]
    if said.is_onward:
        parts.append("The options of the command that the first word names follow.")
    every = (*said.options, *said.alone)
    if shared := [one.words[0] for one in every if is_shared(one) and not one.typed.hidden]:
        words = ", ".join(f"`{word}`" for word in shared)
        parts.append(f"Also the {SHARED_PAGE}: {words}.")
    return ["## Options", *parts] if parts else []


def _definition(option: Option) -> str:
    """Return an option as an item of a definition list: the command-line form and the help."""
    return f"{', '.join(f'`{term}`' for term in terms_of(option))}\n: {_help(option)}"


def terms_of(option: Option) -> list[str]:
    """Return the words by which an option is typed, each with its value, as the help shows them."""
    metavar = option.metavar if isinstance(option.metavar, str) else " ".join(option.metavar)
    value = "|".join(map(str, option.choices)) if option.choices else metavar
    if not option.words:
        return [value]
    if option.is_flag:
        off = [f"--no-{option.words[0][2:]}"] if option.default is not False else []
        return [*option.words, *off]
    return [f"{word} {value}" for word in option.words]


def _help(option: Option) -> str:
    """Return the meaning of an option, its listed values and its default."""
    text = option.help.rstrip(".").replace("``", "`")
    text = text.removeprefix("Whether to ") if option.is_flag else text
    text = f"{text[0].upper()}{text[1:]}"
    if listed := listed_in_help(option):
        words = re.split(r"[|\n]|, ", listed)
        text += f": {', '.join(f'`{word.strip()}`' for word in words if word.strip())}"
    default = option.default
    if option.words and isinstance(default, str | int | float) and not isinstance(default, bool):
        shown = f"{default:g}" if isinstance(default, float) else default
        text += f" (default: `{shown}`)" if "default" not in text else ""
    return f"{text}."


def use_of(command: str) -> re.Pattern[str]:
    """Return the pattern of a command that is typed or called."""
    word = re.escape(command)
    called = re.escape(command.replace(" ", "."))
    return re.compile(rf"mpinet (?:launch -n \d+ )?{word}\b|mpinet\.{called}\(")


def users_of(command: str) -> list[str]:
    """Return the tutorials and how-to pages on which a command is typed or called."""
    use = use_of(command)
    pages = [*sorted(DOCS.glob("tutorials/*.md")), *sorted(DOCS.glob("how-to/*.md"))]
    return [
        str(page.relative_to(DOCS).with_suffix(""))
        for page in pages
        if use.search(page.read_text())
    ]


def write_pages(app: Any = None) -> None:
    """Write new and changed pages, and delete the pages of removed commands."""
    FOLDER.mkdir(exist_ok=True)
    found = outputs()
    pages = {f"{file_of(name)}.md": page_of(name, users_of(name), found[name]) for name in COMMANDS}
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
