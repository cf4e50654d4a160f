"""``cudla-sim nvdla check``: what real hardware would not take of a loadable."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from ...core.text import tell
from ...nvdla import target
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import Loadable
from ..command import JSON, Command, configuration, path_argument
from ..progress import Progress

VERSION = 1
"""Of what ``--json`` prints."""


@click.command(cls=Command, arguments=[("LOADABLE", "An NVDLA loadable.")])
@path_argument("loadable")
@configuration()
@JSON
def check(loadable: Path, config: str, as_json: bool) -> None:
    """Report each operation that real hardware would not take, although it runs here.

    Exit status: 0 nothing found, 1 something found, 2 wrong usage or no loadable.
    """
    from ...nvdla.check import check as find

    try:
        network = Loadable.parse(loadable.read_bytes())
        name = target.choose(network, config)
        with Progress("checking").shown() as shown:
            found = find(network, name, shown.of)
    except OSError as error:
        raise _usage(f"{error.filename}: {error.strerror}") from None
    except NvdlaError as error:
        raise _usage(f"{loadable}: {error}") from None
    if as_json:
        violations = [asdict(item) for item in found]
        described = {"version": VERSION, "config": name, "violations": violations}
        print(json.dumps(described, indent=1))
    else:
        for item in found:
            print(item)
        count = len({(item.task, item.operation) for item in found})
        verdict = f"{count} operations" if count > 1 else "1 operation"
        print(
            f"{loadable.name}: {name} would not take {verdict}"
            if found
            else f"{loadable.name}: {name} would take it"
        )
    raise click.exceptions.Exit(1 if found else 0)


def _usage(message: str) -> click.exceptions.Exit:
    tell(f"cudla-sim nvdla check: {message}")
    return click.exceptions.Exit(2)
