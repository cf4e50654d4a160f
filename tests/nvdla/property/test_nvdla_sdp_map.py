"""Layers with look-up tables that come again: what is kept of each number is what the stages make
of it, and count of it.

Expected is a layer that runs once; that one loops and vectors of other tests judge."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.constants.native_types import sim_lut, sim_sdp
from cudla_sim.native import ints
from cudla_sim.native.compiled import ffi

TYPES = {"int8": np.int8, "int16": np.int16, "fp16": np.float16}
LIMIT = 1 << 15


@st.composite
def tables(draw: st.DrawFn, half: bool) -> sim_lut:
    rng = np.random.default_rng(draw(st.integers(0, 1 << 32)))
    number = rng.normal(size=322).astype(np.float16) if half else rng.integers(-LIMIT, LIMIT, 322)
    near = st.sampled_from([-3.0, -0.5, 0.0, 1.0] if half else [-300, -100, 0, 7])
    return sim_lut(
        **{key: draw(st.integers(0, 1)) for key in ("linear", "under", "over", "hybrid")},
        cdp=0,
        start=(draw(near), draw(near)),
        scale=tuple(2.0 ** draw(st.integers(-4, 6) if half else st.integers(-7, 1)) for _ in "01"),
        exponent=float(draw(st.integers(-6, 3))),
        origin=[[draw(near), draw(near)] for _ in "01"],
        slope=[[draw(near), draw(near)] for _ in "01"],
        limit=float(1 << 31),
        **ints.entries([number[:65].astype(float), number[65:].astype(float)]),
    )


@st.composite
def layers(draw: st.DrawFn, kind: str) -> tuple[list[ints.Stage], sim_sdp]:
    half = kind == "fp16"
    number = st.sampled_from([-2.0, 0.5, 3.0] if half else [-77.0, 3.0, 200.0])
    stages = [
        ints.Stage(
            {
                "y": draw(st.integers(0, 1)),
                "alu": draw(st.sampled_from([0, 1, 2, ints.NO_ALU])),
                "mul": draw(st.integers(0, 1)),
                "relu": draw(st.integers(0, 1)),
                "shift": 0 if half else draw(st.integers(0, 4)),
            },
            ints.Operand(draw(number)),
            ints.Operand(draw(number)),
        )
        for _ in range(draw(st.integers(0, 2)))
    ]
    job = sim_sdp(offset=0, factor=1.0, round=0, low=-LIMIT, high=LIMIT - 1)
    if not half:
        low = draw(st.sampled_from([-128, -LIMIT]))
        by = draw(st.integers(0, 9))
        job |= {"offset": draw(st.integers(-9, 9)), "factor": 3 * 2.0**-by, "round": int(by > 0)}
        job |= {"low": low, "high": -low - 1}
    job["count_saturation"] = draw(st.integers(0, 1))
    for key in ("nan_to_zero", "count_nan_inputs", "count_nan"):
        job[key] = draw(st.integers(0, 1)) if half else 0  # type: ignore[literal-required]
    return stages, job


@settings(max_examples=150, deadline=None)
@given(
    st.sampled_from(list(TYPES)).flatmap(
        lambda kind: st.tuples(st.just(kind), layers(kind), tables(kind == "fp16"))
    ),
    st.sampled_from(["int8", "int16"]),
    st.tuples(st.integers(1, 3), st.integers(1, 3), st.integers(1, 19), st.sampled_from([8, 16])),
    st.integers(0, 1 << 32),
)
def test_a_layer_that_comes_again(drawn, integer, shape, seed) -> None:
    kind, (stages, job), lut = drawn
    rng = np.random.default_rng(seed)
    source = np.zeros(shape, TYPES[kind])
    target = np.zeros(shape, TYPES[integer if seed % 3 or kind != "fp16" else kind])
    if kind == "fp16" and target.dtype == np.int8:
        target = target.astype(np.int16)
    if target.dtype == np.int8:
        job = {**job, "low": -128, "high": 127}
    surfaces, height, width, atom = shape
    job = {**job, "height": height, "width": width, "channels": surfaces * atom}
    sdp = ints.Sdp(job, stages, target, lut, kind == "fp16")
    layer = ints.Ints().pointwise(source, sdp)
    seen = rng.integers(0, 1 << 16, 40).astype(np.uint16)
    for _ in range(4):
        if kind == "fp16":
            source.view(np.uint16)[:] = rng.choice(seen, shape)
            some = rng.random(shape) < 0.7
            source[some] = rng.normal(size=some.sum()).astype(np.float16)
        else:
            source[:] = rng.integers(-LIMIT, LIMIT, shape).astype(source.dtype)
        once = ints.Ints().pointwise(source, sdp)
        once.sdp.map = ffi.NULL
        once.run()
        expected = target.copy()
        target.view(np.uint8)[:] = 0xEE
        layer.run()
        assert (target.view(np.uint8) == expected.view(np.uint8)).all()
        assert layer.counted == once.counted
