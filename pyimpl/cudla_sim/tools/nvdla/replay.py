"""``cudla-sim nvdla replay``: register traces against their goldens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...core.text import tell
from ..command import JSON, Command, configuration, option, path_argument
from ..progress import each
from ..text_table import Table
from .inputs import ANY

if TYPE_CHECKING:
    from ...nvdla.replay import Outcome

VERSION = 1
"""Of what ``--json`` prints."""


@click.command(cls=Command, arguments=[("PATHS...", ".cfg, .txn, .jsonl(.gz), or folders.")])
@path_argument("paths", nargs=-1, required=True)
@configuration("Only this configuration; default: each that a trace is for.")
@option("--all-configs", is_flag=True, hidden=True, help="What it does anyway.")
@JSON
@option("--verbose", is_flag=True, group="Output", help="A line for passes, too.")
def replay(
    paths: tuple[Path, ...], config: str, all_configs: bool, as_json: bool, verbose: bool
) -> None:
    """Replay register traces on the chip model and compare with their goldens."""
    from ...nvdla.replay import TraceError, play, read

    outcomes: list[Outcome] = []
    problems: list[str] = []
    told: set[str] = set()
    for path in paths:
        try:
            for trace in each(read(path), "replaying"):
                for name in [config] if config not in ANY else trace.configs:
                    try:
                        outcomes.append(play(trace, name, told))
                    except TraceError as error:
                        problems.append(str(error))
        except TraceError as error:
            problems.append(str(error))
    if as_json:
        traces = [_as_json(o) for o in outcomes]
        found = {
            "schema_version": VERSION,
            "version": VERSION,
            "traces": traces,
            "errors": problems,
        }
        print(json.dumps(found, indent=1))
    else:
        _print_outcomes(outcomes, problems, verbose)
    bad = any(o.verdict in ("fail", "unsupported") for o in outcomes)
    raise click.exceptions.Exit(1 if bad or problems or not outcomes else 0)


def _as_json(outcome: Outcome) -> dict[str, Any]:
    return {
        "name": outcome.name,
        "config": outcome.config,
        "verdict": outcome.verdict,
        "checks": outcome.checks,
        "failures": outcome.failures,
        "unsupported": outcome.unsupported,
        "seconds": round(outcome.seconds, 6),
        "layers": [
            {
                "unit": layer.chain,
                "input": list(layer.input_shape),
                "output": list(layer.output_shape),
                "macs": layer.macs,
                "saturated": layer.saturated,
            }
            for layer in outcome.layers
        ],
    }


def _print_outcomes(outcomes: list[Outcome], problems: list[str], verbose: bool) -> None:
    colors = {"pass": "green", "fail": "red", "unsupported": "yellow", "no check": "cyan"}
    table = Table(
        ("verdict", "trace", "configuration", "checks", "layers", "ms", "why"),
        right=frozenset({3, 4, 5}),
        colors=colors,
    )
    for o in outcomes:
        if o.verdict == "pass" and not verbose and len(outcomes) > 20:
            continue
        why = o.unsupported or (o.failures[0] if o.failures else "")
        counts = (str(o.checks), str(len(o.layers)), f"{o.seconds * 1e3:.1f}")
        table.add(o.verdict, o.name, o.config, *counts, why)
    table.show()
    for problem in problems:
        tell(f"cudla-sim nvdla replay: {problem}")
    totals = {v: sum(o.verdict == v for o in outcomes) for v in colors}
    text = ", ".join(f"{count} {verdict}" for verdict, count in totals.items() if count)
    print(f"{len(outcomes)} replayed: {text or 'nothing'}; {len(problems)} unreadable")
