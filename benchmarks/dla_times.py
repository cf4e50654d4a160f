"""Estimated times of Jetson's and DRIVE's DLA beside published ones, networks left out of the fit.

``python -m benchmarks.dla_times`` prints the table; ``--by board`` leaves boards out in place of
networks, ``--markdown`` prints the tables of docs/dla/times.md, ``--fit`` fits the constants again
and writes them to the package.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path
from statistics import median

import cudla_sim.boards.timing
from cudla_sim.boards.timing.parameters import Parameters
from cudla_sim.tools.text_table import Table
from tests.boards.published.fitting import (
    LeftOut,
    everything,
    fit,
    fitted_constants,
    left_out,
    spread_factors,
)
from tests.boards.published.rows import FILE, MIXED
from tests.boards.published.table import (
    constants_markdown,
    families_markdown,
    markdown,
    off,
    spreads_markdown,
)

from .report import Figure

TABLE = Path(cudla_sim.boards.timing.__file__).with_name("parameters.toml")
NONE = f"dla_times: no published times at {FILE}; CUDLA_SIM_FIXTURES names the folder that has them"


def by_network() -> list[LeftOut]:
    return left_out(everything(), lambda case: case.row.family)


def by_board() -> list[LeftOut]:
    return left_out(everything(), lambda case: case.row.board)


def show(found: list[LeftOut]) -> None:
    table = Table(
        ["row", "network", "board", "mode or MHz", "batch", "published ms", "left out", "off by",
         "factor", "inside"],
        right=frozenset({4, 5, 6, 7, 8}),
    )  # fmt: skip
    for each in found:
        row = each.case.row
        where = f"{row.clock:g}" if row.clock else row.mode or "default"
        table.add(
            row.id, row.what + (", sparse" if row.sparse else ""), row.board, where,
            str(row.batch), f"{row.ms:.4g}", f"{each.ms:.4g}", off(each.ms, row.ms),
            f"{each.factor:.2f}", "yes" if each.inside else f"no ({row.kind})",
        )  # fmt: skip
    table.show()


def summary(found: list[LeftOut], what: str) -> list[Figure]:
    errors = [100 * abs(each.ms / each.case.row.ms - 1) for each in found]
    inside = 100 * sum(each.inside for each in found) / len(found)
    remark = f"{len(found)} published times"
    return [
        Figure(f"{what}: median error of a left-out time", median(errors), "%", 15, remark=remark),
        Figure(f"{what}: left-out times inside the interval", inside, "%", 90, "higher", remark),
    ]


def figures() -> list[Figure]:
    if not FILE.is_file():
        print(NONE)
        return []
    found = by_network()
    show(found)
    alone = [each for each in found if each.case.row.kind != MIXED]
    boards = by_board()
    return [
        *summary(found, "DLA times, networks left out"),
        *summary(alone, "DLA times, those without work of the GPU"),
        *summary(boards, "DLA times, boards left out")[:1],
    ]


def write_fit(values: Parameters, found: list[LeftOut]) -> None:
    """Puts fitted values and spreads into the package's table."""
    text = TABLE.read_text()
    for constant in fitted_constants():
        number = f"{getattr(values, constant.name):.4g}"
        text = _set(text, f"constant.{constant.name}", "value", number)
    for name, (factor, rows) in spread_factors(found).items():
        text = _set(text, f"spread.{name}", "value", f"{factor:.3g}")
        text = _set(text, f"spread.{name}", "rows", str(rows))
    TABLE.write_text(text)


def _set(text: str, section: str, key: str, value: str) -> str:
    pattern = re.compile(rf"(^\[{re.escape(section)}\]\n(?:[^\[]*?\n)?{key} = )[^\n]*", re.M)
    done, count = pattern.subn(rf"\g<1>{value}", text)
    assert count == 1, f"{TABLE}: no {key} under [{section}]"
    return done


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dla_times")
    parser.add_argument("--by", choices=("network", "board"), default="network")
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--fit", action="store_true", help=f"write {TABLE.name}")
    options = parser.parse_args()
    if not FILE.is_file():
        raise SystemExit(NONE)
    found = by_board() if options.by == "board" else by_network()
    if options.markdown:
        parts = (
            constants_markdown(),
            spreads_markdown(),
            families_markdown(found),
            markdown(found),
        )
        print("\n".join(parts), end="")
        return
    if options.fit:
        write_fit(fit(everything()), found)
    show(found)
    for figure in summary(found, f"by {options.by}"):
        print(f"{figure.what}: {figure.value:.1f} {figure.unit} (goal {figure.goal:g})")


if __name__ == "__main__":
    main()
