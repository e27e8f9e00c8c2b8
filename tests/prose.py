"""Counts what makes prose hard to read, in docstrings, comments, messages and pages.

    python tests/prose.py                       # a table by room and page, and the worst files
    python tests/prose.py --worst 60 mpinet/mpi # more files of one room
    python tests/prose.py --show mpinet/mpi     # the sentences that were counted

Three counts, the first two per 1,000 words:

idioms      clauses without a noun ("what is", "those that", "nobody", "but for", ..)
pronouns    bare pronouns (it, that, they, one, so, there, ..), whose noun a reader has to find
long        sentences of more than 30 words

The counts find places to look at. They do not judge a sentence.
"""

import argparse
import ast
import inspect
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import astuple, dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]

PLACES = ("mpinet", "docs", "README.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
"""Folders and pages that are counted if none is named."""

IDIOMS = re.compile(
    r"\b(nobody|whoever|whatever|but for|that of|those of|those that|all that|none but|who has"
    r"|what (?:is|are|was|has|have|comes|came|can|goes|follows|lies|stands|leads|one)"
    r"|as (?:it|they) ha(?:s|ve) it|it stays so|of one's own|of yours|of ours)\b|, too\b",
    re.IGNORECASE,
)
PRONOUNS = re.compile(
    r"\b(that|those|what|it|they|them|one|ones|other|others|so|there|such|which|who)\b",
    re.IGNORECASE,
)
LONG = 30
"""Words of the longest sentence that is not counted as long."""

MESSAGE = 4
"""Words of the shortest text in code that counts as a message."""


@dataclass
class Count:
    """What was counted in some pieces of text."""

    words: int = 0
    idioms: int = 0
    pronouns: int = 0
    long: int = 0
    sentences: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(*(a + b for a, b in zip(astuple(self), astuple(other), strict=True)))

    @property
    def rates(self) -> tuple[float, float]:
        """Idioms and pronouns per 1,000 words."""
        words = max(self.words, 1)
        return 1000 * self.idioms / words, 1000 * self.pronouns / words


def docstrings_and_comments(source: str) -> Iterator[str]:
    """Docstrings, strings below fields and constants, and groups of comments."""
    for node in ast.walk(ast.parse(source)):
        text = text_of(node.value) if isinstance(node, ast.Expr) else None
        if text is not None:
            yield re.sub(r"(?m)^\s*(>>>|\.\.\.|\|).*$", "", inspect.cleandoc(text))
    lines: list[str] = []
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            lines.append(token.string.lstrip("# "))
        elif token.type not in LAYOUT and lines:
            yield " ".join(lines)
            lines = []


LAYOUT = {tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT}
"""Tokens between the lines of one comment."""


def messages(source: str) -> Iterator[str]:
    """Help texts, errors and other texts that code prints; `X` stands for each inserted value."""
    tree = ast.parse(source)
    skipped = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            skipped.update(id(part) for part in ast.walk(node) if part is not node)
    for node in ast.walk(tree):
        if id(node) not in skipped and (text := text_of(node)) is not None:
            words = text.split()
            plain = [
                word for word in words if re.fullmatch(r"[(\"']?[A-Za-z-]+[.,:;!?)\"']*", word)
            ]
            if len(words) >= MESSAGE and len(plain) >= 0.7 * len(words):
                yield text


def text_of(node: ast.AST) -> str | None:
    """A literal text, with `X` in place of each inserted value; None for other nodes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(part) or "X" for part in node.values)
    return None


def paragraphs(page: str) -> Iterator[str]:
    """Paragraphs and items of a page, without code, tables, headings and links' targets."""
    page = re.sub(r"(?ms)^(```|~~~|:::).*?^\1", "", page)
    page = re.sub(r"(?m)^\s*\|.*$|^\s*#.*$|^\(.*\)=$|<[^>]+>", "", page)
    for block in re.split(r"\n\s*\n|\n[-*] |\n\d+\. ", page):
        yield re.sub(r"`[^`]*`", "X", block)


def cells(page: str) -> Iterator[str]:
    """Cells of a page's tables."""
    page = re.sub(r"(?ms)^(```|~~~|:::).*?^\1", "", page)
    for row in re.findall(r"(?m)^\s*\|(.*)\|\s*$", page):
        if not re.fullmatch(r"[-:| ]*", row):
            yield from (re.sub(r"`[^`]*`", "X", cell) for cell in row.split("|"))


def sentences(block: str) -> list[str]:
    """Sentences of a paragraph; underlines of a docstring's headings are left out."""
    block = re.sub(r"-{3,}|={3,}", " ", " ".join(block.split()))
    return [part for part in re.split(r"(?<=[.!?:;])\s+(?=[A-Z`\"(])", block) if part]


def counted(sentence: str) -> Count:
    """The count of one sentence."""
    words = len(sentence.split())
    idioms, pronouns = (len(pattern.findall(sentence)) for pattern in (IDIOMS, PRONOUNS))
    return Count(words, idioms, pronouns, int(words > LONG), 1)


@cache
def count(path: Path) -> tuple[Count, Count]:
    """The counts of a file's prose, and of its messages or table cells."""
    prose, short = blocks(path)
    return total(prose), total(short)


def blocks(path: Path) -> tuple[Iterable[str], Iterable[str]]:
    """A file's prose, and its messages or table cells."""
    text = path.read_text()
    if path.suffix == ".py":
        return docstrings_and_comments(text), messages(text)
    return paragraphs(text), cells(text)


def total(texts: Iterable[str]) -> Count:
    """The count of texts."""
    return sum((counted(part) for text in texts for part in sentences(text)), Count())


def files_of(places: Iterable[Path]) -> Iterator[Path]:
    """Sources and pages in these places, without pages that the docs build makes."""
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            unwanted = {"_build", "__pycache__", "changes"} & set(path.parts)
            is_made = path.parts[-3:-1] == ("reference", "commands")
            if path.suffix in (".py", ".md") and not unwanted and not is_made:
                yield path


def room_of(path: Path) -> str:
    """The room of the package, or the page, that a file belongs to."""
    parts = path.relative_to(CHECKOUT).parts
    is_page = path.suffix == ".md" or len(parts) < 3
    return "/".join(parts if is_page else parts[:2])


def by_room(paths: Iterable[Path]) -> dict[str, tuple[Count, Count]]:
    """The two counts of each room and page."""
    rooms: dict[str, tuple[Count, Count]] = defaultdict(lambda: (Count(), Count()))
    for path in paths:
        room = room_of(path)
        prose, short = count(path)
        rooms[room] = rooms[room][0] + prose, rooms[room][1] + short
    return dict(rooms)


def main() -> None:
    """Print the counts, or the sentences that were counted."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("places", nargs="*", default=[CHECKOUT / place for place in PLACES])
    parser.add_argument("--worst", type=int, default=25, help="files to list")
    parser.add_argument("--show", action="store_true", help="print the sentences that count")
    options = parser.parse_args()
    paths = [*files_of(Path(place).resolve() for place in options.places)]
    if options.show:
        show(paths)
        return
    row = "{:45} {:>8} {:>7} {:>9} {:>5}   {:>8} {:>7} {:>9}"
    print(row.format("", "prose", "", "", "", "messages, cells", "", ""))
    heads = ("words", "idioms", "pronouns")
    print(row.format("room or page", *heads, "long", *heads))
    rooms = by_room(paths)
    whole = [sum((pair[k] for pair in rooms.values()), Count()) for k in (0, 1)]
    lines = [*sorted(rooms.items(), key=_badness), ("all", (whole[0], whole[1]))]
    for name, (prose, short) in lines:
        print(row.format(name[-45:], *_cells(prose), prose.long, *_cells(short)))
    print("\nworst files (200 words or more)")
    single = {str(path.relative_to(CHECKOUT)): count(path) for path in paths}
    for name, (prose, short) in sorted(single.items(), key=_badness)[: options.worst]:
        if prose.words >= 200:
            print(row.format(name[-45:], *_cells(prose), prose.long, *_cells(short)))


def _badness(item: tuple[str, tuple[Count, Count]]) -> float:
    idioms, pronouns = item[1][0].rates
    return -8 * idioms - pronouns


def _cells(found: Count) -> tuple[int, str, str]:
    idioms, pronouns = found.rates
    return found.words, f"{idioms:.1f}", f"{pronouns:.0f}"


def show(paths: Iterable[Path]) -> None:
    """Print the sentences with idioms, with many pronouns or with too many words."""
    for path in paths:
        print(f"\n{path.relative_to(CHECKOUT)}")
        for texts in blocks(path):
            for sentence in (part for text in texts for part in sentences(text)):
                found = counted(sentence)
                dense = found.words > 8 and found.pronouns / found.words > 0.15
                if found.idioms or found.long or dense:
                    print("  *", sentence[:300])


if __name__ == "__main__":
    main()
