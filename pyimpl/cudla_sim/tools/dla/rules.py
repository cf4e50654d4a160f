"""``cudla-sim dla rules``: the table of rules, for people or as Markdown."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ...board_table import MARKS
from ...core.text import tell
from ..command import Command, option
from ..text_table import Table


@click.command("rules", cls=Command)
@option("--rules", type=click.Path(path_type=Path), multiple=True, metavar="FILE", group="Rules",
        help="TOML with further rules.")  # fmt: skip
@option("--without", type=click.Choice(MARKS), multiple=True, group="Rules",
        help="Leave rules of this mark out.")  # fmt: skip
@option("--markdown", is_flag=True, group="Output", help="As the page of the documentation.")
def list_rules(rules: tuple[Path, ...], without: tuple[str, ...], markdown: bool) -> None:
    """List the rules: what each is about, what it asks, where it is said, how sure it is."""
    from ...boards.errors import DlaError
    from ...boards.rules import document
    from ...boards.rules.rule import table

    try:
        found = table(rules, without)
    except DlaError as error:
        tell(f"cudla-sim dla rules: {error}")
        sys.exit(2)
    if markdown:
        print(document.page(found), end="")
        return
    shown = Table(["rule", "about", "asks", "where", "mark"])
    for rule in found:
        shown.add(
            rule.id, document.about(rule), document.asks(rule), document.where(rule), rule.mark
        )
    shown.show()
