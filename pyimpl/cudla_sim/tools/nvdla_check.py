"""``cudla-sim nvdla check``: what real hardware would not take of a loadable."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..nvdla.errors import NvdlaError
from ..nvdla.hw.configs import config as config_of
from ..nvdla.loadable import Loadable
from . import network_run


def check(
    loadable: Annotated[Path, typer.Argument(help="An NVDLA loadable.")],
    config: Annotated[str, typer.Option(help="Configuration; default: the loadable's.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Report each operation that real hardware would not take, although it runs here.

    Exit status: 0 nothing found, 1 something found, 2 wrong usage or no loadable.
    """
    from ..nvdla.check import check as find

    try:
        network = Loadable.parse(loadable.read_bytes())
        name = config_of(config).name if config else network_run.choose_config(network)
        found = find(network, name)
    except OSError as error:
        raise _usage(f"{error.filename}: {error.strerror}") from None
    except NvdlaError as error:
        raise _usage(f"{loadable}: {error}") from None
    if as_json:
        print(json.dumps({"config": name, "violations": [asdict(i) for i in found]}, indent=1))
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
    raise typer.Exit(1 if found else 0)


def _usage(message: str) -> typer.Exit:
    print(f"cudla-sim nvdla check: {message}", file=sys.stderr)
    return typer.Exit(2)
