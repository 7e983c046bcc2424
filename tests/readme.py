"""Makes the generated parts of the pages: `python -m tests.readme`, or `--check` to compare.

What stands below `<!-- installs -->` is the table of tpudiag/installs. Blocks of ```console that
call `tpudiag explain` show what it says today. The README's picture is
the first screen of a report: `tpudiag check .readme/train.py -o r.json`, then
`python -m tests.readme --picture r.json`.
"""

import contextlib
import io
import os
import re
import shlex
import sys
from collections.abc import Iterator
from datetime import date
from pathlib import Path

from rich.console import Console
from rich.text import Text

from tests.installs.states import STATES
from tpudiag import report_json
from tpudiag.catalogue import renderer
from tpudiag.cli import main as tpudiag
from tpudiag.installs import words
from tpudiag.installs.state import state_of
from tpudiag.installs.table import ROWS
from tpudiag.known_errors.search import match
from tpudiag.mcp_server.tools import TOOLS
from tpudiag.model import Report
from tpudiag.options import verbs
from tpudiag.options.option import PEOPLE, flags, help_of, read

TOP = Path(__file__).parents[1]
README = TOP / "README.md"
PAGES = (README, TOP / "CONTRIBUTING.md", *sorted((TOP / "docs").glob("*.md")))
PICTURE = TOP / ".readme" / "report.svg"
COLUMNS = 88
TOOL_NAMES = {tool.name for tool in TOOLS}
INSTALLS = re.compile(r"(?<=<!-- installs -->\n\n).*", re.DOTALL)
OPEN_END = re.compile(r"\.99+\b")
"""The end of a range that has none."""
OPTIONS = re.compile(r"(?<=<!-- options -->\n\n).*", re.DOTALL)
CONSOLE = re.compile(r"(?<=```console\n)\$ tpudiag explain.*?(?=```)", re.DOTALL)


def console(block: str) -> str:
    """The commands of a block, each with what it says."""
    commands = re.findall(r"^\$ (.+)$", block, re.MULTILINE)
    return "\n".join(f"$ {command}\n{output(command)}" for command in commands)


def output(command: str) -> str:
    """What a command of tpudiag writes to stdout."""
    with contextlib.redirect_stdout(io.StringIO()) as captured:
        tpudiag(shlex.split(command)[1:])
    return captured.getvalue()


def options() -> str:
    """The options of every verb, each with what it says: one row where all say the same."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for verb in verbs.OF_VERB:
        for name, (_, option) in verbs.options(verb, PEOPLE).items():
            if option.people and option.help:
                called = ", ".join(f"`{flag}`" for flag in flags(name, option))
                keyword = f"`{name}`" if verb in verbs.KEYWORDS and name in taken(verb) else ""
                agents = "yes" if option.agents and verb in TOOL_NAMES else ""
                row = (called, keyword, agents, help_of(option).replace("|", "\\|"))
                rows.setdefault(row, []).append(verb)
    table = [
        f"| {called} | {keyword} | {', '.join(having)} | {agents} | {said} |"
        for (called, keyword, agents, said), having in sorted(rows.items(), key=lambda row: row[0])
    ]
    head = ["| command line | keyword | verbs | agents | description |", "|---|---|---|---|---|"]
    return "\n".join([*head, *table]) + "\n"


def taken(verb: str) -> set[str]:
    """The keywords of a function of the library."""
    return set(read(verbs.KEYWORDS[verb], verb))


def made(text: str) -> str:
    """A page with its generated parts made anew."""
    text = CONSOLE.sub(lambda match: console(match[0]), text)
    text = INSTALLS.sub(lambda _: installing(), text)
    return OPTIONS.sub(lambda _: options(), text)


def installing() -> str:
    """What to type for a TPU, and the table of what was seen where."""
    rows = ["| state | Python | libtpu | keras | protobuf | claim | by | when | source |"]
    rows += ["|---|---|---|---|---|---|---|---|---|"]
    for row in ROWS:
        libtpu = " to ".join(dict.fromkeys(row.libtpu)) if row.libtpu else ""
        own = (row.name, " to ".join(row.python), libtpu, row.keras, row.protobuf)
        for claim in row.claims:
            said = f"{claim.standing.value}: {claim.what}"
            cells = " | ".join((*own, said, claim.by, claim.when, claim.source))
            rows.append(f"| {OPEN_END.sub('.x', cells)} |")
    ways = (words.in_place(()), words.OWN_ENVIRONMENT, words.IMAGE, words.JAX)
    offered = "\n\n".join(f"```\n{way}\n```\n\n{way.seen}." for way in ways)
    seen = "\n".join((*rows, "", "## What tpudiag answers in each environment", "", *_said_where()))
    return f"{offered}\n\n## The evidence\n\n{seen}\n"


def _said_where() -> Iterator[str]:
    """States that the tests hold: the vendor's own pin beside the answers."""
    yield "| environment | its vendor's pin | `check`: finds a TPU | its first line | `explain` |"
    yield "|---|---|---|---|---|"
    for name, tried in STATES.items():
        state = state_of(tried.environment, date.min)  # the page tells no age: it would grow old
        finds = {True: "yes", False: "no", None: "not known"}[state.drives]
        error = next((e.error.id for e in match(tried.symptom)), "") if tried.symptom else ""
        asked = f"{error}: `{tried.symptom}`" if error else ""
        first = f"`{tried.first}`" if tried.first else ""
        finds = f"{finds}: {state.because}"
        yield f"| {name} | {tried.pin} | {finds} | {first} | {asked} |"


def picture(report: Report) -> str:
    """The first screen as an SVG of a terminal."""
    os.environ |= {"COLUMNS": str(COLUMNS), "FORCE_COLOR": "1", "COLORTERM": "truecolor"}
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(Text.assemble(("$ ", "dim"), f"tpudiag check {report.subject.name}"))
    console.print(Text.from_ansi(renderer("rich")(report)))
    svg = console.export_svg(title="tpudiag", font_aspect_ratio=0.61)
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # they load from elsewhere


def main() -> int:
    """Write the pages, or say whether they are current."""
    if "--picture" in sys.argv[1:]:
        report = report_json.load(sys.argv[-1])
        PICTURE.write_text(picture(report), encoding="utf-8")
        return 0
    texts = {page: page.read_text(encoding="utf-8") for page in PAGES}
    old = [page for page, text in texts.items() if made(text) != text]
    if "--check" not in sys.argv[1:]:
        for page in old:
            page.write_text(made(texts[page]), encoding="utf-8")
        return 0
    for page in old:
        print(f"{page.name}: a generated part is old: python -m tests.readme", file=sys.stderr)
    return int(bool(old))


if __name__ == "__main__":
    sys.exit(main())
