"""Generation of parts of docs/contract.md from the commands' functions and the catalogue.

The networks in section 1 come from the catalogue. The usage of a command in section 3 is made from
its signature, and its result from the section Returns of its docstring. ``python
docs/_extensions/contract.py`` writes both parts; a test compares them with the page.
"""

from __future__ import annotations

import re
from pathlib import Path
from textwrap import fill

from mpinet.cli.parser import COMMON
from mpinet.commands import function_of
from mpinet.commands.catalogue import ALIASES, COMMANDS
from mpinet.commands.docstrings import returned
from mpinet.commands.optionrecords import EMPTY, REST, Option
from mpinet.commands.signature import signature_of
from mpinet.networks.catalogue import families

PAGE = (Path(__file__).parents[1] / "contract").with_suffix(".md")

SHARED = {*COMMON}
"""Options that section 2 of the page describes."""

MADE = "\n<!-- {}: made by docs/_extensions/contract.py -->\n", "\n<!-- end of {} -->\n"
"""Comments before and after a generated part."""

WIDTH = 80
"""Largest number of characters of a line of a usage."""


def sections() -> str:
    """Return the sections of all commands, after the list of fields that several commands share."""
    results = {command: clauses_of(fields_of_result(command)) for command in COMMANDS}
    users = {clause: [] for clauses in results.values() for clause in clauses[1:]}
    for command, clauses in results.items():
        for clause in clauses[1:]:
            users[clause].append(f"`{command}`")
    shared = {clause: names for clause, names in users.items() if len(names) >= MANY}
    items = [f"* {', '.join(names)}: {clause}." for clause, names in shared.items()]
    parts = [f"(contract-shared)=\nFields shared by several commands:\n\n{NEWLINE.join(items)}\n"]
    first: dict[str, str] = {}
    for command, clauses in results.items():
        own = _named_once("; ".join(clause for clause in clauses if clause not in shared))
        text = own if (same := first.setdefault(own, command)) == command else f"as of `{same}`"
        more = ", and [shared fields](#contract-shared)" if shared.keys() & {*clauses} else ""
        rest = fields_of_result(command)[len("; ".join(clauses)) :]
        parts.append(_section(command, f"{text}{more}{rest}"))
    return "\n".join(parts).rstrip("\n")


MANY = 5
"""Least number of commands whose common fields are described once."""

NEWLINE = "\n"


def clauses_of(fields: str) -> list[str]:
    """Return the parts of a description of fields: each part has its own condition."""
    described = re.match(r"(?:[^.]|\.(?! [A-Z]))*", fields)
    parts, depth = [""], 0
    for character in described[0] if described else "":
        depth += (character in "([{") - (character in ")]}")
        if character == ";" and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts]


def _named_once(fields: str) -> str:
    """Return a description in which an object refers to an earlier one with the same fields."""
    first: dict[str, str] = {}

    def shown(found: re.Match[str]) -> str:
        name, inner = found.groups()
        same = first.setdefault(inner, name)
        return found[0] if same == name else f"{name} {{as {same}}}"

    text = re.sub(r"(\w+) \{(\w+(?:, \w+){3,})\}", shown, fields)
    return re.sub(r" (\{as \w+\})(?=, \w+ \1)", "", text)


def networks() -> str:
    """Return the table of the catalogue's families."""
    rows = ["| family | parameters, in this order | example | defined in |", "|---|---|---|---|"]
    for family in families():
        ranges = family.range.replace(" |", ",")
        defined = reference_to(family.specification)
        rows.append(f"| `{family.name}` | {ranges} | `{family.example}` | {defined} |")
    return "\n".join(rows)


def reference_to(specification: str) -> str:
    """Return references to the sections that define a family, as Markdown."""
    links, page = [], ""
    for found in re.finditer(r"(?:([a-z]+(?:/[a-z]+)?) )?(\d+)(?:-(\d+))?", specification):
        page = (found[1] or page).rpartition("/")[2]
        for section in range(int(found[2]), int(found[3] or found[2]) + 1):
            shown = f"{page} {section}" if found[1] and section == int(found[2]) else section
            links.append(f"{{ref}}`{shown} <{page}-{section}>`")
    return ", ".join(links)


def page() -> str:
    """Return the page with current networks and commands."""
    text = PAGE.read_text()
    for name, made in (("networks", networks()), ("commands", sections())):
        begin, end = (mark.format(name) for mark in MADE)
        before, _, rest = text.partition(begin)
        text = f"{before}{begin}\n{made}\n{end}{rest.partition(end)[2]}"
    return text


def _section(command: str, fields: str) -> str:
    """Return the section of a command: its usage and the fields of its result."""
    also = [f"`{name}`" for name, meant in ALIASES.items() if meant == command]
    text = f"### {command}\n\n```text\n{usage_of(command)}\n```\n\n"
    if also:
        text += f"Also {', '.join(also)}. "
    return f"{text}Result: {fields}.\n" if fields else f"{text}The command prints its results.\n"


def usage_of(command: str) -> str:
    """Return a command's usage in short lines, without the options shared with other commands."""
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
    if said.is_onward:
        text = text.replace(" --", " .. --", 1)
    return fill(
        text, WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    ).replace(NARROW, " ")


NARROW = "\u00a0"
"""Blank without a line break."""


def _is_shared(option: Option, on_machine: bool) -> bool:
    """Return whether section 2 describes the option, or the option is never typed."""
    if option.typed.hidden or option.typed.within or option.name == "seed":
        return True
    if option.name == "ports":
        return on_machine
    return option.heading != "" and option.name in SHARED


def typed(option: Option) -> str:
    """Return an option in the form of a usage line."""
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
    """Return the fields of a command's result as Markdown."""
    text = returned(function_of(command).__doc__ or "").rstrip(".").replace("``", "`")
    text = re.sub(r"docs/([\w-]+/)?([\w-]+)", r"[\2](\1\2.md)", text)
    return text


if __name__ == "__main__":
    PAGE.write_text(page())
