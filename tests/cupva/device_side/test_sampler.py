"""The sampler against a lookup of one entry at a time, with weights as fractions."""

from __future__ import annotations

from fractions import Fraction
from math import floor
from typing import Any

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cudla_sim.cupva.workers.worker import LaunchResult

from .bench import Bench, modes

FIELDS = modes("sampler.h")
ONE, TWO, TILES = 0, 1, 2
TYPES = [np.uint8, np.int8, np.uint16, np.int16, np.uint32, np.int32]
INDICES = [np.uint16, np.int16, np.uint32, np.int32]
TRUNCATE, ROUND, INTERPOLATE = 0, 1, 2
CONSTANT, CLAMP, SKIP = 0, 1, 2
OUT_BYTES = 8192
MANY = settings(
    max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


class Case:
    """A task: the fields of the kernel's enumeration by name, its table and indices."""

    def __init__(self, table: np.ndarray, indices: np.ndarray, **fields: int) -> None:
        self.table, self.indices = table, indices
        self.f = dict.fromkeys(FIELDS, 0) | fields
        self.dtype = table.dtype

    def run(self, bench: Bench) -> LaunchResult:
        values = [self.f[name] for name in FIELDS if name != "FIELDS"]
        return bench.launch(
            table=self.table.tobytes(),
            indices=self.indices.tobytes(),
            what=np.array(values, np.int64).astype(np.uint32).tobytes(),
        )

    def entry(self, base: int, x: int, y: int, width: int) -> int | None:
        height = self.f["HEIGHT"]
        if not (0 <= x < width and 0 <= y < height):
            if self.f["OUTSIDE"] == SKIP:
                return None
            if self.f["OUTSIDE"] == CONSTANT:
                return int(np.array(self.f["CONSTANT"] % (1 << 32)).astype(self.dtype))
            x, y = min(max(x, 0), width - 1), min(max(y, 0), height - 1)
        pitch = self.f["PITCH"] or self.f["WIDTH"]
        return int(self.table[base + y * pitch + x])

    def at(self, base: int, x: int, y: int, width: int) -> int | None:
        one = 1 << self.f["BITS"]
        if self.f["MODE"] != TILES and self.f["FRACTION"] != INTERPOLATE:
            half = Fraction(1, 2) if self.f["FRACTION"] == ROUND else Fraction(0)
            whole = [floor(Fraction(place, one) + half) for place in (x, y)]
            return self.entry(base, *whole, width)
        total = Fraction(0)
        right, down = Fraction(x % one, one), Fraction(y % one, one)
        for dy, wy in ((0, 1 - down), (1, down)):
            for dx, wx in ((0, 1 - right), (1, right)):
                if wx * wy:
                    found = self.entry(base, x // one + dx, y // one + dy, width)
                    if found is None:
                        return None
                    total += wx * wy * found
        return floor(total + Fraction(1, 2))

    def positions(self) -> list[list[tuple[int, int]]]:
        """Rows of indices, or tiles: where each sample lies."""
        f, columns, rows = self.f, self.f["COLUMNS"], self.f["ROWS"]
        if f["MODE"] == TILES:
            one, found = 1 << f["BITS"], []
            for word in self.indices[: f["TILES"]].tolist():
                left, top = (word & 0xFFFF) + f["OFFSET_X"], (word >> 16) + f["OFFSET_Y"]
                inside = [(x, y) for y in range(rows) for x in range(columns)]
                if f["ORDER"]:
                    inside.sort()
                found.append([(left + x * one, top + y * one) for x, y in inside])
            return found
        pitch, result = f["INDEX_PITCH"] or columns, []
        for row in range(rows):
            if f["MODE"] == ONE:
                line = self.indices[row * pitch :][:columns].tolist()
                result.append([(i + f["OFFSET_X"], 0) for i in line])
            else:
                pairs = self.indices[2 * row * pitch :][: 2 * columns].reshape(-1, 2).tolist()
                if f["ORDER"]:
                    pairs = [(x, y) for y, x in pairs]
                result.append([(x + f["OFFSET_X"], y + f["OFFSET_Y"]) for x, y in pairs])
        return result

    def expected(self, width: int) -> np.ndarray:
        out = np.zeros(OUT_BYTES // self.dtype.itemsize, self.dtype)
        for line, row in enumerate(self.positions()):
            base = line * self.f["ADVANCE"] // self.dtype.itemsize
            for number, (x, y) in enumerate(row):
                value = self.at(base, x, y, width)
                if value is not None:
                    transposed, pitch = self.f["OUT_MODE"], self.f["OUT_PITCH"]
                    place = number * pitch + line if transposed else line * pitch + number
                    out[place] = np.array(value).astype(self.dtype)
        return out


@st.composite
def cases(draw: Any, mode: int) -> Case:
    dtype = np.dtype(draw(st.sampled_from(TYPES)))
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    info = np.iinfo(dtype)
    width, height = draw(st.integers(1, 20)), draw(st.integers(1, 9)) if mode else 1
    pitch = draw(st.sampled_from([0, width, width + 3])) if mode else 0
    columns, rows = draw(st.integers(1, 8)), draw(st.integers(1, 4))
    bits = draw(st.integers(0, 6))
    tiles = draw(st.integers(1, 3)) if mode == TILES else 0
    lines = tiles or rows
    advance = draw(st.sampled_from([0, 1, 4])) * dtype.itemsize
    entries = (pitch or width) * height + lines * 4
    table = rng.integers(info.min, info.max + 1, entries).astype(dtype)
    most, index_type, index_pitch, scale = (max(width, height) + 4) << bits, 0, 0, 1
    if mode == TILES:
        words = rng.integers(0, most, 2 * tiles)
        indices = (words[::2] | words[1::2] << 16).astype(np.uint32)
    else:
        index_type = draw(st.integers(0, 3))
        index_pitch = draw(st.sampled_from([0, columns, columns + 2]))
        scale = 2 if mode == TWO else 1
        low = -(4 << bits) if index_type & 1 else 0
        count = (index_pitch or columns) * rows * scale
        indices = rng.integers(low, most, count).astype(INDICES[index_type])
    per_line = columns * rows if tiles else columns
    transposed = dtype.itemsize > 1 and draw(st.booleans())
    return Case(
        table,
        indices,
        MODE=mode,
        TYPE=TYPES.index(dtype.type),
        WIDTH=width,
        HEIGHT=height,
        PITCH=pitch,
        ADVANCE=advance,
        OUTSIDE=draw(st.integers(0, 2)),
        CONSTANT=draw(st.integers(-70000, 70000)),
        INDEX_TYPE=index_type,
        COLUMNS=columns,
        ROWS=rows,
        INDEX_PITCH=index_pitch,
        BITS=bits,
        FRACTION=draw(st.integers(0, 2)),
        OFFSET_X=draw(st.integers(-40, 40)),
        OFFSET_Y=draw(st.integers(-40, 40)) if mode else 0,
        ORDER=draw(st.integers(0, 1)) if mode else 0,
        TILES=tiles,
        OUT_PITCH=64 // dtype.itemsize + 1 if transposed else per_line + draw(st.integers(0, 2)),
        OUT_MODE=int(transposed),
        NARROWER=draw(st.integers(0, width)),
    )


@MANY
@given(case=st.one_of(cases(ONE), cases(TWO), cases(TILES)))
def test_a_list_of_two_tasks(sampler: Bench, case: Case) -> None:
    """The second task writes elsewhere, from a table that was made narrower."""
    result = case.run(sampler)
    assert (result.status, result.text) == ("done", "")
    width = case.f["WIDTH"]
    for name, limit in (("out", width), ("second", case.f["NARROWER"] or width)):
        found = sampler.array(result, name, case.dtype.type)
        assert found.tolist() == case.expected(limit).tolist(), name


def plain(**fields: int) -> Case:
    table, indices = np.arange(10, 26, dtype=np.uint16), np.array([3, 1, 2], np.uint16)
    known = {"TYPE": 2, "WIDTH": 16, "HEIGHT": 1, "COLUMNS": 3, "ROWS": 1, "OUT_PITCH": 3}
    return Case(table, indices, **(known | fields))


def test_a_table_of_one_dimension(sampler: Bench) -> None:
    result = plain().run(sampler)
    assert sampler.array(result, "out", np.uint16)[:4].tolist() == [13, 11, 12, 0]


def test_results_are_there_after_the_wait(sampler: Bench) -> None:
    result = plain(RULE=3).run(sampler)
    assert result.status == "done"
    assert not sampler.array(result, "out", np.uint16).any()
    assert plain(RULE=1).run(sampler).status == "done"


def test_misuse_is_explained(sampler: Bench) -> None:
    for fields, text in (
        ({"RULE": 2}, "cupvaSamplerStart() while a list of sampler tasks is active"),
        ({"OUT_MODE": 1, "OUT_PITCH": 32}, "64 / sizeof(pixel) * k + 1"),
        ({"OUT_MODE": 1, "TYPE": 0}, "outputs of 8 bits have TRANS_MODE_NONE only"),
        ({"MODE": 1, "PITCH": 15}, "line pitch less than the table's width"),
        ({"WIDTH": 0}, "a table without entries"),
        ({"BITS": 17}, "more than 16 fractional bits"),
    ):
        result = plain(**fields).run(sampler)
        assert text in result.text, fields
