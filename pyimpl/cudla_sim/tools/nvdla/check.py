"""``cudla-sim nvdla check``: what real hardware would not take of a loadable."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...core.text import because, tell
from ...nvdla.errors import NvdlaError
from ...nvdla.facts.configs import config as configuration_of
from ...nvdla.loadable import Loadable
from ..command import JSON, Command, configuration, path_argument
from ..progress import Progress
from .inputs import ANY, configuration_for

if TYPE_CHECKING:
    from ...nvdla.check import Violation

VERSION = 1
"""Of what ``--json`` prints."""


@click.command(cls=Command, arguments=[("LOADABLE", "An NVDLA loadable, or a network in parts.")])
@path_argument("loadable")
@configuration()
@JSON
def check(loadable: Path, config: str, as_json: bool) -> None:
    """Report each operation that real hardware would not take, although it runs here.

    Exit status: 0 nothing found, 1 something found, 2 wrong usage or no loadable.
    """
    from ...nvdla.check import check as find
    from ...nvdla.parts.summary import summary
    from .parts import as_json as parts_json
    from .parts import loadables, package_of, surroundings

    found: list[tuple[int | None, Violation]] = []
    more: dict[str, Any] = {}
    share = ""
    try:
        data = loadable.read_bytes()
        package = package_of(data)
        with Progress("checking").shown() as shown:
            if package is None:
                network = Loadable.parse(data)
                name = configuration_for(network, config, "nvdla check", loadable.name)
                found += [(None, item) for item in find(network, name, shown.of)]
            else:
                name = configuration_of(package.config if config in ANY else config).name
                for number, network, chosen in loadables(package, config):
                    found += [(number, item) for item in find(network, chosen, shown.of)]
                more = parts_json(package, surroundings())
                share = f"; {summary(package, surroundings())}"
    except OSError as error:
        raise _usage(because(error)) from None
    except NvdlaError as error:
        raise _usage(f"{loadable}: {error}") from None
    if as_json:
        violations = [
            asdict(item) if number is None else {"part": number, **asdict(item)}
            for number, item in found
        ]
        described: dict[str, Any] = {
            "schema_version": VERSION,
            "version": VERSION,
            "config": name,
            "violations": violations,
            **more,
        }
        print(json.dumps(described, indent=1))
    else:
        for part, item in found:
            print(item if part is None else f"part {part} {item}")
        count = len({(part, item.task, item.operation) for part, item in found})
        verdict = f"{count} operations" if count > 1 else "1 operation"
        print(
            f"{loadable.name}: {name} would not take {verdict}"
            if found
            else f"{loadable.name}: {name} would take it",
            end=f"{share}\n",
        )
    raise click.exceptions.Exit(1 if found else 0)


def _usage(message: str) -> click.exceptions.Exit:
    tell(f"cudla-sim nvdla check: {message}")
    return click.exceptions.Exit(2)
