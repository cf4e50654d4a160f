"""Vector operations against numpy: lanes of 12, 24 and 48 bits that wrap, agens, stores."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudla_sim.cupva.workers.worker import LaunchResult

from .bench import Bench

SCALE = 173


def wrap(values: Any, bits: int = 24) -> np.ndarray:
    shift = 64 - bits
    return (np.asarray(values, np.int64) << shift) >> shift


class Run:
    """Inputs and what came of them."""

    def __init__(self, bench: Bench) -> None:
        rng = np.random.default_rng(3)
        self.a16 = rng.integers(-32768, 32768, 32).astype(np.int16)
        self.b16 = rng.integers(-32768, 32768, 32).astype(np.int16)
        self.b16[:4] = self.a16[:4]
        self.u16 = rng.integers(0, 65536, 32).astype(np.uint16)
        self.u8 = rng.integers(0, 256, 64).astype(np.uint8)
        self.s8 = rng.integers(-128, 128, 64).astype(np.int8)
        self.s32 = rng.integers(-(1 << 31), 1 << 31, 16).astype(np.int32)
        self.picture = rng.integers(0, 65536, (6, 98)).astype(np.uint16)
        self.floats = rng.normal(size=16).astype(np.float32)
        inputs = {
            name: getattr(self, name).tobytes()
            for name in ("a16", "b16", "u16", "u8", "s8", "s32", "picture", "floats")
        }
        self.result: LaunchResult = bench.launch(scale=SCALE, **inputs)
        assert (self.result.status, self.result.text) == ("done", "")
        self.bench = bench
        self.a, self.b = wrap(self.a16.astype(np.int64) * SCALE), wrap(self.b16 * np.int64(SCALE))

    def array(self, name: str, dtype: type = np.int32) -> np.ndarray:
        return self.bench.array(self.result, name, dtype)


@pytest.fixture(scope="module")
def run(vectors: Bench) -> Run:
    return Run(vectors)


def expected(run: Run) -> dict[str, Any]:
    """By name, in the order of the kernel."""
    a, b = run.a, run.b
    chosen = np.arange(32) < 16
    changed = wrap(wrap(a + b) - 1) | 4
    return {
        "signed load": run.a16,
        "unsigned load": run.u16,
        "+": a + b,
        "-": a - b,
        "*": a * b,
        "&": a & b,
        "|": a | b,
        "^": a ^ b,
        "~": ~a,
        "negative": -a,
        "<<": a << 3,
        ">>": a >> 3,
        "==": a == b,
        "!=": a != b,
        "<": a < b,
        "<=": a <= b,
        ">": a > b,
        ">=": a >= b,
        "&&": (a > 0) & (b > 0),
        "||": (a > 0) | (b > 0),
        "!": ~(a > 0),
        "number on the left": 100 - a,
        "wraps at 24 bits": a + 8388607,
        "assignments": changed & 0xFFFF,
        "dvmin": np.minimum(a, b),
        "dvmin with a number": np.minimum(a, 11),
        "dvmax": np.maximum(a, b),
        "dvabsdif": abs(a - b),
        "dvabs": abs(a),
        "dvmux": np.where(a > b, a, b),
        "dvmux with a number": np.where(a > b, 65535, b),
        "dvmulh": a * b,
        "dvmulh truncated": (a * SCALE) >> 7,
        "dvmulh rounded": (a * SCALE + 64) >> 7,
        "dvmaddh": a * 3 + b,
        "dvmaddh without its sum": a * 3,
        "dvmaddh by lane": ((a * 3 + 1) >> 1) + np.where(chosen, b, 0),
        "dvmsubh": b - a * 3,
        "dvclamp": np.clip(a, -100, 100),
        "vdemote, vpromote": wrap(a, 12),
        "replicateh": np.where(chosen, -5, 300),
        "chess_dont_care": a * 0,
    }


def test_24_bit_lanes(run: Run) -> None:
    found = run.array("found").reshape(64, 32)
    for row, (name, values) in enumerate(expected(run).items()):
        assert found[row].tolist() == wrap(values).tolist(), name


def test_agens_walk_dimension_one_first(run: Run) -> None:
    """Three dimensions in, two out, a base that is set later."""
    p = wrap(run.picture)
    mean = (wrap(p[:, :-2] + wrap(p[:, 1:-1] << 1) + p[:, 2:])) >> 2
    assert (run.array("smooth", np.uint16).reshape(6, 96) == (mean & 0xFFFF)).all()


def test_load_with_permutation(run: Run) -> None:
    index = abs(run.a16.astype(np.int64)) & 31
    assert (run.array("permuted", np.uint16) == run.u16[index]).all()


def test_store_keeps_the_low_bits(run: Run) -> None:
    assert (run.array("stored", np.uint16) == (run.a & 0xFFFF)).all()
    total = run.u8.astype(np.int64) + run.s8
    assert (run.array("stored8", np.uint8) == (total & 0xFF)).all()


def test_12_bit_lanes(run: Run) -> None:
    u, s = run.u8.astype(np.int64), run.s8.astype(np.int64)
    found = run.array("chars").reshape(4, 64)
    for row, values in zip(found, (u + s, u * s, abs(u - s), np.where(u > s, 1, s)), strict=True):
        assert row.tolist() == wrap(values, 12).tolist()


def test_48_bit_lanes(run: Run) -> None:
    w = run.s32.astype(np.int64)
    found = run.array("ints", np.int64).reshape(4, 16)
    for row, values in zip(found, (w * w, w << 20, np.minimum(w, 7), w >= 0), strict=True):
        assert row.tolist() == wrap(values, 48).tolist()


def test_flattened_loop_with_predicates(run: Run) -> None:
    """mod_inc_pred_z and _nz start and end the sums; a predicated store steps its agen."""
    sums = run.array("sums", np.uint16).reshape(3, 32)
    low = run.u16.astype(np.int64) & 255
    assert sums[0].tolist() == (low * (1 + 2 + 3)).tolist()
    assert sums[1].tolist() == (low * (4 + 5 + 6) & 0xFFFF).tolist()
    lanes = (0xFF0F >> np.arange(32)) & 1
    assert sums[2].tolist() == np.where(lanes, run.a16.view(np.uint16), 0).tolist()


def test_sum_of_lanes(run: Run) -> None:
    assert run.array("total").tolist() == [int((run.a16 > run.b16).sum())]


def test_float_lanes(run: Run) -> None:
    two = run.floats * np.float32(2)
    assert (run.array("floats", np.float32) == two + run.floats).all()
