"""``cudla-sim nvdla``: the group; each command is imported when it is called."""

from __future__ import annotations

import click

from ..command import Group


@click.group(cls=Group)
def app() -> None:
    """Run NVDLA loadables and register traces."""


_HERE = __package__
app.under("Commands", check=f"{_HERE}.check:check")
app.under("Commands", evaluate=f"{_HERE}.evaluate:evaluate_network")
app.under("Commands", export=f"{_HERE}.export:export")
app.under("Commands", layout=f"{_HERE}.inspect:show_layout")
app.under("Commands", replay=f"{_HERE}.replay:replay")
app.under("Commands", run=f"{_HERE}.run:run")
app.under("Commands", time=f"{_HERE}.times:show_time")
