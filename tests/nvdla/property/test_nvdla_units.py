"""The units agree with the naive model over generated geometries and settings, both groups."""

from __future__ import annotations

import numpy as np
from bench_nvdla import Bench, address
from hypothesis import given, settings
from hypothesis import strategies as st
from naive_nvdla import Conv, Cube, Pool, Sdp, Stage, convolve, pool, process

from cudla_sim.native.ints import kinds, wide_kinds

ALU = {"max": 0, "min": 1, "sum": 2}
CONV_BLOCKS = ("CACC", "CMAC_A", "CMAC_B", "CSC", "CDMA")
COMMON = settings(max_examples=30, deadline=None)
MORE = settings(max_examples=80, deadline=None)

arithmetics = st.sampled_from(["numpy", *dict.fromkeys((*kinds(), *wide_kinds()))])

targets = st.sampled_from(
    [("nv_small", 1), ("nv_large", 1), ("nv_full", 1), ("nv_full", 2), ("nv_small_256", 1)]
)
small = st.integers(1, 3)


@st.composite
def stages(draw, x_stage: bool) -> dict:
    """Settings of an SDP stage; operands are filled in later."""
    return {
        "alu": draw(st.sampled_from([None, "max", "min", "sum"])),
        "alu_shift": draw(st.integers(0, 12)) if x_stage else 0,
        "mul": draw(st.booleans()),
        "prelu": draw(st.booleans()),
        "mul_shift": draw(st.integers(0, 20)),
        "relu": draw(st.booleans()) if x_stage else False,
        "source": draw(st.sampled_from(["register", "kernel", "point"])),
        "two_bytes": draw(st.booleans()),
    }


@st.composite
def sdp_settings(draw) -> dict:
    """Which stages are on, and the output converter."""
    return {
        "x1": draw(st.none() | stages(True)),
        "x2": draw(st.none() | stages(True)),
        "y": draw(st.none() | stages(False)),
        "cvt": (
            draw(st.sampled_from([0, 3, -70000])),
            draw(st.integers(-32768, 32767)),
            draw(st.integers(0, 30)),
        ),
    }


def operands(bench: Bench, rng: np.random.Generator, p: dict, size: tuple, padded: int):
    """Store memory operands of a stage; return (ALU, MUL, registers of its DMA by suffix)."""
    _, height, width = size
    two = p["two_bytes"]
    limit = 32767 if two else 127
    if p["source"] == "register":
        low, high = -32768, 32768
        values = [int(value) for value in rng.integers(low, high, 2)]
        return values[0], values[1], None
    both = p["alu"] is not None and p["mul"]
    parts = 2 if both else 1
    item = 2 if two else 1
    place = bench.reserve()
    start = place - 0x1_0000_0000
    dtype = "<i2" if two else "i1"
    atom = bench.hardware.per_atom
    if p["source"] == "kernel":
        table = rng.integers(-limit, limit + 1, (padded, parts)).astype(dtype)
        bench.data[start : start + table.nbytes] = table.view(np.uint8).ravel()
        columns = [[int(v) for v in table[:, part]] for part in range(parts)]
        line = surface = 0
    else:
        surfaces = padded // atom
        table = rng.integers(-limit, limit + 1, (surfaces, height, width, atom, parts))
        table = table.astype(dtype)
        columns = [
            {
                (c, y, x): int(table[c // atom, y, x, c % atom, part])
                for c in range(padded)
                for y in range(height)
                for x in range(width)
            }
            for part in range(parts)
        ]
        line = -(-width * atom * parts * item // 32) * 32  # v1 strides are multiples of 32
        surface = height * line
        if (height, width) == (1, 1):
            surface = atom * parts * item  # packed, whatever the stride says
        for index in np.ndindex(surfaces, height):
            row = table[index].reshape(-1).view(np.uint8)
            begin = start + index[0] * surface + index[1] * line
            bench.data[begin : begin + len(row)] = row
    use = 2 if both else 1 if p["alu"] is not None else 0
    config = use << 1 | int(two) << 3 | int(p["source"] == "point") << 4 | 1 << 5
    registers = {"CFG": config, "ADDR": place, "LINE": line, "SURFACE": surface}
    return columns[0], columns[-1], registers


def program_sdp(bench, rng, p: dict, size: tuple, group: int, flying: bool, target, source=None):
    """Program SDP and SDP_RDMA; return the naive settings and whether the RDMA is needed."""
    channels, height, width = size
    bpe, atom = bench.hardware.bpe, bench.hardware.per_atom
    padded = -(-channels // atom) * atom
    precision = 0 if bpe == 1 else 1
    bench.select(group, "SDP", "SDP_RDMA")
    cube = {"D_DATA_CUBE_WIDTH": width - 1, "D_DATA_CUBE_HEIGHT": height - 1}
    cube["D_DATA_CUBE_CHANNEL"] = channels - 1
    rdma = {**cube, "D_FEATURE_MODE_CFG": int(flying) | precision << 2 | precision << 4}
    main = {**cube}
    naive = Sdp(cvt=p["cvt"], out_bits=8 * bpe)
    needed = not flying
    for key, prefix, letter in (("x1", "BS", "B"), ("x2", "BN", "N"), ("y", "EW", "E")):
        stage = p[key]
        rdma[f"D_{letter}RDMA_CFG"] = 1
        if stage is None:
            main[f"D_DP_{prefix}_CFG"] = 1
            continue
        alu, mul, dma = operands(bench, rng, stage, size, padded)
        used = stage["alu"] is not None or stage["mul"]
        memory = int(dma is not None and used)
        needed = needed or bool(memory)
        main[f"D_DP_{prefix}_CFG"] = (
            int(stage["alu"] is None) << 1
            | ALU.get(stage["alu"], 0) << 2
            | int(not stage["mul"]) << 4
            | int(stage["prelu"]) << 5
            | int(not stage["relu"]) << 6
        )
        if prefix == "EW":
            main["D_DP_EW_ALU_CFG"] = main["D_DP_EW_MUL_CFG"] = memory | 2
            main["D_DP_EW_TRUNCATE_VALUE"] = stage["mul_shift"]
        else:
            main[f"D_DP_{prefix}_ALU_CFG"] = memory | stage["alu_shift"] << 8
            main[f"D_DP_{prefix}_MUL_CFG"] = memory | stage["mul_shift"] << 8
        if not memory:
            alu = alu if isinstance(alu, int) else 0
            mul = mul if isinstance(mul, int) else 0
            main[f"D_DP_{prefix}_ALU_SRC_VALUE"] = alu
            main[f"D_DP_{prefix}_MUL_SRC_VALUE"] = mul
        else:
            rdma[f"D_{letter}RDMA_CFG"] = dma["CFG"]
            rdma |= address(f"D_{prefix}_BASE_ADDR_HIGH", f"D_{prefix}_BASE_ADDR_LOW", dma["ADDR"])
            rdma[f"D_{prefix}_LINE_STRIDE"] = dma["LINE"]
            rdma[f"D_{prefix}_SURFACE_STRIDE"] = dma["SURFACE"]
        naive_stage = Stage(
            stage["alu"],
            alu,
            stage["alu_shift"],
            stage["mul"],
            mul,
            stage["mul_shift"],
            stage["prelu"],
            stage["relu"],
        )
        setattr(naive, key, naive_stage)
    if source is not None:
        rdma |= address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW", source.address)
        rdma["D_SRC_LINE_STRIDE"] = source.line_stride
        rdma["D_SRC_SURFACE_STRIDE"] = source.surface_stride
        rdma["D_SRC_DMA_CFG"] = 1
    to_pdp = target is None
    main["D_FEATURE_MODE_CFG"] = int(flying) | int(to_pdp) << 1
    main["D_DATA_FORMAT"] = precision | precision << 2
    offset, scale, shift = p["cvt"]
    main |= {"D_CVT_OFFSET": offset, "D_CVT_SCALE": scale, "D_CVT_SHIFT": shift}
    if target is not None:
        main |= address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW", target.address)
        main["D_DST_LINE_STRIDE"] = target.line_stride
        main["D_DST_SURFACE_STRIDE"] = target.surface_stride
        main["D_DST_DMA_CFG"] = 1
    bench.write("SDP_RDMA", rdma)
    bench.write("SDP", main)
    return naive, needed


def program_conv(bench: Bench, p: Conv, source: Cube, group: int) -> None:
    """Program the convolution pipeline."""
    bpe = bench.hardware.bpe
    precision = 0 if bpe == 1 else 1
    bench.select(group, *CONV_BLOCKS)
    bench.write("CACC", {"D_CLIP_CFG": p.truncate})
    bench.write(
        "CSC",
        {
            "D_MISC_CFG": precision << 8 | precision << 12,
            "D_WEIGHT_SIZE_EXT_0": (p.columns - 1) | (p.rows - 1) << 16,
            "D_WEIGHT_SIZE_EXT_1": (source.channels - 1) | (p.kernels - 1) << 16,
            "D_DATAOUT_SIZE_0": (p.out[1] - 1) | (p.out[0] - 1) << 16,
            "D_CONV_STRIDE_EXT": (p.stride[1] - 1) | (p.stride[0] - 1) << 16,
            "D_DILATION_EXT": (p.dilation[1] - 1) | (p.dilation[0] - 1) << 16,
            "D_ZERO_PADDING": p.pad_left | p.pad_top << 16,
            "D_ZERO_PADDING_VALUE": p.pad_value & 0xFFFF,
        },
    )
    cdma = {
        "D_MISC_CFG": precision << 8 | precision << 12,
        "D_DATAIN_SIZE_0": (source.width - 1) | (source.height - 1) << 16,
        "D_DATAIN_SIZE_1": source.channels - 1,
        "D_DAIN_RAM_TYPE": 1,
        "D_WEIGHT_RAM_TYPE": 1,
        "D_LINE_STRIDE": source.line_stride,
        "D_SURF_STRIDE": source.surface_stride,
        "D_ZERO_PADDING_VALUE": p.pad_value & 0xFFFF,
    }
    cdma |= address("D_DAIN_ADDR_HIGH_0", "D_DAIN_ADDR_LOW_0", source.address)
    cdma |= address("D_WEIGHT_ADDR_HIGH", "D_WEIGHT_ADDR_LOW", p.weight_address)
    if p.convert is not None:
        offset, scale, shift = p.convert
        cdma |= {"D_CVT_CFG": 1 | shift << 4, "D_CVT_OFFSET": offset, "D_CVT_SCALE": scale}
    bench.write("CDMA", cdma)


@st.composite
def convolutions(draw) -> dict:
    rows, columns = draw(small), draw(small)
    stride, dilation = (draw(small), draw(small)), (draw(st.integers(1, 2)), 1)
    top, left = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    out = (draw(small), draw(st.sampled_from([1, 2, 3, 7])))
    need_y = (out[0] - 1) * stride[0] + (rows - 1) * dilation[0] + 1
    need_x = (out[1] - 1) * stride[1] + (columns - 1) * dilation[1] + 1
    return {
        "channels": draw(st.sampled_from([1, 3, 8, 9, 33, 70])),
        "kernels": draw(st.sampled_from([1, 7, 8, 17, 34, 70])),
        "rows": rows,
        "columns": columns,
        "stride": stride,
        "dilation": dilation,
        "pad_top": top,
        "pad_left": left,
        "out": out,
        "height": max(need_y - top - draw(st.integers(0, 2)), 1),
        "width": max(need_x - left - draw(st.integers(0, 2)), 1),
        "pad_value": draw(st.integers(-128, 127)),
        "truncate": draw(st.integers(0, 12)),
        "convert": draw(st.none() | st.tuples(*[st.integers(-200, 200)] * 2, st.integers(0, 9))),
    }


@MORE
@given(
    targets, convolutions(), sdp_settings(), st.integers(0, 2**32), st.integers(0, 3), arithmetics
)
def test_convolution_with_sdp(target, shape, sdp, seed, slack, arithmetic) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench(target[0], rng, target[1], arithmetic)
    for group in (0, 1):
        source = bench.cube(shape["channels"], shape["height"], shape["width"], slack)
        p = Conv(
            *(shape[key] for key in ("kernels", "rows", "columns", "stride", "dilation")),
            *(shape[key] for key in ("pad_top", "pad_left", "pad_value", "truncate", "out")),
            bench.reserve(),
            shape["convert"],
        )
        bench.reserve()
        size = (p.kernels, *p.out)
        out = bench.cube(*size, slack)
        program_conv(bench, p, source, group)
        naive, needed = program_sdp(bench, rng, sdp, size, group, True, out)
        values = convolve(bench.image(), bench.hardware, p, source)
        expected = process(naive, values, size, out.padded_channels(bench.hardware))
        bench.enable(*(["SDP_RDMA"] if needed else []), "SDP", *CONV_BLOCKS)
        if not needed:  # keep the pointers of both blocks in step
            bench.write("SDP_RDMA", {"D_OP_ENABLE": 1})
        status = bench.run()
        assert bench.result(out) == expected
        assert status == 0x150001 << group
        bench.chip.csb.glb.clear_bits(status)
        bench._next = 0


@MORE
@given(
    targets,
    st.sampled_from([1, 8, 9, 40]),
    small,
    st.sampled_from([1, 2, 3, 9]),
    sdp_settings(),
    st.integers(0, 2**32),
    st.sampled_from(["numpy", "native"]),
)
def test_sdp_from_memory(target, channels, height, width, sdp, seed, arithmetic) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench(target[0], rng, target[1], arithmetic)
    size = (channels, height, width)
    source, out = bench.cube(*size, 1), bench.cube(*size)
    naive, _ = program_sdp(bench, rng, sdp, size, 0, False, out, source)
    hw, memory = bench.hardware, bench.image()
    padded = out.padded_channels(hw)
    values = {
        (c, y, x): source.get(memory, hw, c, y, x)
        for c in range(padded)
        for y in range(height)
        for x in range(width)
    }
    expected = process(naive, values, size, padded)
    bench.enable("SDP_RDMA", "SDP")
    assert bench.run() == 1
    assert bench.result(out) == expected


@st.composite
def pools(draw) -> dict:
    kernel = (draw(st.integers(1, 4)), draw(st.integers(1, 4)))
    stride = (draw(small), draw(small))
    top, left = draw(st.integers(0, kernel[0] - 1)), draw(st.integers(0, kernel[1] - 1))
    out = (draw(small), draw(small))
    top = min(top, out[0] * stride[0] - 1)  # more windows may not begin than there are
    over_y, over_x = draw(st.integers(0, kernel[0] - 1)), draw(st.integers(0, kernel[1] - 1))
    return {
        "method": draw(st.sampled_from(["average", "max", "min"])),
        "kernel": kernel,
        "stride": stride,
        "pad_top": top,
        "pad_left": left,
        "out": out,
        "height": max((out[0] - 1) * stride[0] + kernel[0] - top - over_y, 1),
        "width": max((out[1] - 1) * stride[1] + kernel[1] - left - over_x, 1),
        "pads": [0, *draw(st.lists(st.integers(-2000, 2000), min_size=7, max_size=7))],
    }


def program_pdp(bench: Bench, p: Pool, size: tuple, out: Cube, source: Cube | None) -> None:
    """Program PDP (and PDP_RDMA if the input is in memory)."""
    precision = 0 if bench.hardware.bpe == 1 else 1
    channels, height, width = size
    cube = {
        "D_DATA_CUBE_IN_WIDTH": width - 1,
        "D_DATA_CUBE_IN_HEIGHT": height - 1,
        "D_DATA_CUBE_IN_CHANNEL": channels - 1,
    }
    method = {"average": 0, "max": 1, "min": 2}[p.method]
    main = {
        **cube,
        "D_DATA_CUBE_OUT_WIDTH": p.out[1] - 1,
        "D_DATA_CUBE_OUT_HEIGHT": p.out[0] - 1,
        "D_DATA_CUBE_OUT_CHANNEL": channels - 1,
        "D_OPERATION_MODE_CFG": method | int(source is not None) << 4,
        "D_POOLING_KERNEL_CFG": (p.kernel[1] - 1)
        | (p.kernel[0] - 1) << 8
        | (p.stride[1] - 1) << 16
        | (p.stride[0] - 1) << 20,
        "D_RECIP_KERNEL_WIDTH": p.reciprocals[1],
        "D_RECIP_KERNEL_HEIGHT": p.reciprocals[0],
        "D_POOLING_PADDING_CFG": p.pad_left | p.pad_top << 4,
        **{f"D_POOLING_PADDING_VALUE_{n}_CFG": p.pads[n] & 0x7FFFF for n in range(1, 8)},
        **address("D_DST_BASE_ADDR_HIGH", "D_DST_BASE_ADDR_LOW", out.address),
        "D_DST_LINE_STRIDE": out.line_stride,
        "D_DST_SURFACE_STRIDE": out.surface_stride,
        "D_DST_RAM_CFG": 1,
        "D_DATA_FORMAT": precision,
    }
    bench.write("PDP", main)
    if source is not None:
        rdma = {
            **cube,
            **address("D_SRC_BASE_ADDR_HIGH", "D_SRC_BASE_ADDR_LOW", source.address),
            "D_SRC_LINE_STRIDE": source.line_stride,
            "D_SRC_SURFACE_STRIDE": source.surface_stride,
            "D_SRC_RAM_CFG": 1,
            "D_DATA_FORMAT": precision,
        }
        bench.write("PDP_RDMA", rdma)


def pool_of(shape: dict, bpe: int) -> Pool:
    keys = ("method", "kernel", "stride", "pad_top", "pad_left", "out", "pads")
    kernel = shape["kernel"]
    return Pool(
        *(shape[key] for key in keys),
        (65536 // kernel[0], 65536 // kernel[1]),
        8 * bpe,
    )


def valid(shape: dict) -> bool:
    """Every window touches the input (hardware does not define others)."""
    return all(
        (shape["out"][axis] - 1) * shape["stride"][axis] - pad < shape[size]
        for axis, pad, size in ((0, shape["pad_top"], "height"), (1, shape["pad_left"], "width"))
    )


@MORE
@given(
    targets,
    pools().filter(valid),
    st.sampled_from([1, 8, 20, 33]),
    st.integers(0, 2**32),
    st.sampled_from(["numpy", "native"]),
)
def test_pooling_from_memory(target, shape, channels, seed, arithmetic) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench(target[0], rng, target[1], arithmetic)
    size = (channels, shape["height"], shape["width"])
    p = pool_of(shape, target[1])
    source, out = bench.cube(*size, 2), bench.cube(channels, *p.out, 1)
    program_pdp(bench, p, size, out, source)
    hw, memory = bench.hardware, bench.image()
    padded = out.padded_channels(hw)
    values = {
        (c, y, x): source.get(memory, hw, c, y, x)
        for c in range(padded)
        for y in range(size[1])
        for x in range(size[2])
    }
    expected = pool(p, values, (padded, *size[1:]))
    bench.enable("PDP_RDMA", "PDP")
    assert bench.run() == 1 << 4
    assert bench.result(out) == expected


@COMMON
@given(targets, pools().filter(valid), sdp_settings(), st.integers(0, 2**32))
def test_sdp_hands_over_to_pdp(target, shape, sdp, seed) -> None:
    rng = np.random.default_rng(seed)
    bench = Bench(target[0], rng, target[1])
    size = (9, shape["height"], shape["width"])
    p = pool_of(shape, target[1])
    source, out = bench.cube(*size), bench.cube(9, *p.out)
    naive, _ = program_sdp(bench, rng, sdp, size, 0, False, None, source)
    program_pdp(bench, p, size, out, None)
    hw, memory = bench.hardware, bench.image()
    padded = out.padded_channels(hw)
    values = {
        (c, y, x): source.get(memory, hw, c, y, x)
        for c in range(padded)
        for y in range(size[1])
        for x in range(size[2])
    }
    middle = process(naive, values, size, padded)
    expected = pool(p, middle, (padded, *size[1:]))
    bench.enable("SDP_RDMA", "PDP", "SDP")
    assert bench.run() == 1 << 4 | 1
    assert bench.result(out) == expected
