"""``cudla-sim dla``: the group; each command is imported when it is called."""

from __future__ import annotations

import click

from ..command import Group


@click.group(cls=Group)
def app() -> None:
    """Say what TensorRT would put on the DLA of a Jetson or DRIVE board, without the board."""


_HERE = __package__
app.under("Commands", check=f"{_HERE}.check:check_model")
app.under("Commands", time=f"{_HERE}.time:time_model")
app.under("Commands", rules=f"{_HERE}.rules:list_rules")
