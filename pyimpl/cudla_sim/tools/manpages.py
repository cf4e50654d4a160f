"""Manual pages of all commands, from the same declarations as their help.

``python -m cudla_sim.tools.manpages FOLDER`` writes ``cudla-sim.1``, ``cudla-sim-run.1``, ...
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ..core.config import PREFIX
from ..version import __version__
from .command import OTHER, Command, Group, sections


def _roff(text: str) -> str:
    """Text as roff has it: no control lines, no hyphens that become dashes."""
    escaped = text.replace("\\", "\\e").replace("-", "\\-")
    return "\n".join(
        "\\&" + line if line[:1] in (".", "'") else line for line in escaped.split("\n")
    )


def _paragraphs(text: str) -> Iterator[str]:
    for number, part in enumerate(text.strip().split("\n\n")):
        if number:
            yield ".PP"
        yield _roff(" ".join(part.split()))


def _entries(rows: list[tuple[str, str]]) -> Iterator[str]:
    for first, second in rows:
        yield ".TP"
        yield f".B {_roff(first)}"
        yield _roff(" ".join(second.split()))


def page(command: click.Command, context: click.Context) -> str:
    """One manual page in man(7)."""
    title = context.command_path.replace(" ", "-")
    summary = command.get_short_help_str(200).rstrip(".")
    usage = " ".join(command.collect_usage_pieces(context))
    lines = [
        f'.TH "{_roff(title.upper())}" "1" "" "cudla\\-sim {__version__}" "cudla\\-sim"',
        ".SH NAME",
        f"{_roff(title)} \\- {_roff(summary)}",
        ".SH SYNOPSIS",
        f".B {_roff(context.command_path)}",
        _roff(usage),
        ".SH DESCRIPTION",
        *_paragraphs(command.help or summary),
    ]
    if isinstance(command, Command) and command.arguments:
        lines += [".SH ARGUMENTS", *_entries(command.arguments)]
    for name, rows in sections(command, context).items():
        heading = "OPTIONS" if name == OTHER else f"OPTIONS: {name.upper()}"
        lines += [f'.SH "{_roff(heading)}"', *_entries(rows)]
    if isinstance(command, Group):
        found = [
            (name, command.get_command(context, name)) for name in command.list_commands(context)
        ]
        rows = [
            (name, sub.get_short_help_str(200)) for name, sub in found if sub and not sub.hidden
        ]
        lines += [".SH COMMANDS", *_entries(rows)]
    lines += [
        ".SH ENVIRONMENT",
        *_paragraphs(
            f"{PREFIX}* are the settings of the simulated machine; NO_COLOR turns colours off."
        ),
        ".SH SEE ALSO",
        ", ".join(f"\\fB{_roff(name)}\\fR(1)" for name in _related(command, context)),
    ]
    return "\n".join(lines) + "\n"


def _related(command: click.Command, context: click.Context) -> list[str]:
    own = context.command_path.replace(" ", "-")
    if isinstance(command, Group):
        return [f"{own}-{name}" for name in command.list_commands(context)]
    return (
        [own.rpartition("-")[0]]
        if context.parent is None
        else [context.parent.command_path.replace(" ", "-")]
    )


def _context(command: click.Command, name: str, parent: click.Context | None) -> click.Context:
    return command.context_class(command, info_name=name, parent=parent, **command.context_settings)


def pages(command: click.Command, context: click.Context | None = None) -> dict[str, str]:
    """File name -> manual page, of a command and all below it."""
    context = context or _context(command, "cudla-sim", None)
    found = {f"{context.command_path.replace(' ', '-')}.1": page(command, context)}
    if isinstance(command, Group):
        for name in command.list_commands(context):
            sub = command.get_command(context, name)
            if sub is not None and not sub.hidden:
                inner = _context(sub, name, context)
                found.update(pages(sub, inner))
    return found


def main(words: list[str]) -> int:
    """Writes the pages into a folder; 2 when none is named."""
    from .root import app

    if len(words) != 1:
        print("usage: python -m cudla_sim.tools.manpages FOLDER", file=sys.stderr)
        return 2
    folder = Path(words[0])
    folder.mkdir(parents=True, exist_ok=True)
    found = pages(app)
    for name, text in found.items():
        (folder / name).write_text(text)
    for page_before in folder.glob("*.1"):
        if page_before.name not in found:
            page_before.unlink()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
