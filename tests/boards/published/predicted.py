"""What the model says for a published row, with any values of its constants."""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from cudla_sim.boards import Report, check
from cudla_sim.boards.timing import spread
from cudla_sim.boards.timing.compute import gap_ms, milliseconds
from cudla_sim.boards.timing.estimating import lowered
from cudla_sim.boards.timing.operations import operations
from cudla_sim.boards.timing.parameters import Parameters, spreads, transitions
from cudla_sim.boards.timing.surroundings import Surroundings, surroundings
from cudla_sim.boards.timing.work import Work, work
from tests.boards.networks import small

from .rows import Row


@dataclass(frozen=True)
class Prepared:
    """All that does not depend on the constants."""

    row: Row
    report: Report
    around: Surroundings
    items: Sequence[Work]

    def ms(self, values: Parameters) -> float:
        """As the row has it: of a batch on one core."""
        found = sum(self.by_kind(values).values())
        if self.report.on_gpu and not self.row.recipe.part:
            parts = self.report.subgraphs
            found += transitions()["to_dla"].value * sum(len(part.inputs) for part in parts)
            found += transitions()["from_dla"].value * sum(len(part.outputs) for part in parts)
        if self.row.cores > 1:
            found /= values.two_cores_gpu if self.report.on_gpu else values.two_cores
        return found

    @functools.cached_property
    def _alike(self) -> list[tuple[str, Work, int]]:
        """Of items that take the same time the first, with the name of its spread and how many
        there are: networks repeat their blocks."""
        firsts: dict[object, Work] = {}
        numbers: Counter[object] = Counter()
        for item in self.items:
            same = (
                *(item.operation.main.kind, item.operation.engine, item.operation.precision),
                *(item.macs, item.input_elements, item.output_elements),
                *(item.convolution, item.traffic),
            )
            firsts.setdefault(same, item)
            numbers[same] += 1
        generation = self.around.setting.generation
        return [(spread.kind(item, generation), item, numbers[k]) for k, item in firsts.items()]

    @functools.cached_property
    def _known(self) -> dict[Parameters, dict[str, float]]:
        """Fits that leave something out begin with the same values."""
        return {}

    def by_kind(self, values: Parameters) -> dict[str, float]:
        """Milliseconds of the DLA's operations by the names of their spreads."""
        found = self._known.setdefault(values, {})
        if found:
            return found
        setting = self.around.setting
        gap = gap_ms(setting.generation, values)
        for name, item, number in self._alike:
            ms = (max(milliseconds(item, setting, values)) + gap) * self.around.batch
            found[name] = found.get(name, 0.0) + ms * number
        return found

    def decides(self, values: Parameters) -> str:
        """What most of its time goes to."""
        found = self.by_kind(values)
        return max(found, key=lambda name: found[name])

    def factor(self, values: Parameters, factors: dict[str, float] | None = None) -> float:
        """Up from the estimate to the interval's end."""
        known = factors or {name: each.value for name, each in spreads().items()}
        found = self.by_kind(values)
        return sum(known[name] * ms for name, ms in found.items()) / sum(found.values())


@functools.cache
def _report(row_what: str, make: object, board: str, int8: bool) -> Report:
    return check(make(1), board, int8=int8)  # type: ignore[operator]


def prepared(row: Row) -> Prepared:
    report = _report(row.what, row.recipe.make, row.board, row.int8)
    around = surroundings(report, row.mode, row.clock, row.batch, row.cores, row.sparse, None)
    items = [
        item
        for subgraph in lowered(report, row.recipe.fp16)
        for item in work(operations(subgraph, report.board.generation), 1, around.sram_bytes)
    ]
    return Prepared(row, report, around, _part(items, row.recipe.part))


def _part(items: list[Work], part: tuple[int, int] | str) -> list[Work]:
    if isinstance(part, tuple):
        return items[slice(*part)]
    if not part:
        return items
    what, *words = part.split()
    if what == "layers":
        names = small.googlenet()[1][int(words[0]) : int(words[1]) + 1]
        return [item for item in items if item.operation.main.name in names]
    inside = what == "only"
    return [i for i in items if fnmatchcase(i.operation.main.name, words[0]) == inside]
