"""`nvdla replay`: the three forms of traces, and what a failing one says."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cudla_sim.nvdla.replay import TraceError, play, read
from tests import warm
from tests.conftest import FIXTURES

PACKED = FIXTURES / "nvdla" / "traces" / "tests.jsonl.gz"
MEMORIES = {"pri": "pri_mem", "sec": "sec_mem"}


def packed(name: str) -> dict[str, Any]:
    with gzip.open(PACKED, "rt") as lines:
        return next(t for t in map(json.loads, lines) if t["name"] == name)


def blob(item: dict[str, Any]) -> bytes:
    return gzip.decompress((PACKED.parent / "blobs" / f"{item['blob']}.gz").read_bytes())


def runs(item: dict[str, Any]) -> list[tuple[int, bytes]]:
    data, found = blob(item), []
    for offset, size, count, stride in item["runs"]:
        for index in range(count):
            found.append((offset + index * stride, data[:size]))
            data = data[size:]
    return found


def write_cfg(trace: dict[str, Any], folder: Path) -> Path:
    """A packed test in the text form of the public small configurations."""
    lines = ["// a comment", ""]
    for op in trace["ops"]:
        kind = op["op"]
        if kind == "reg_write":
            lines.append(f"reg_write({op['reg']}_0, {op['data']:#x});")
        elif kind == "reg_poll":
            lines.append(f"poll_reg_equal({op['reg']}_0,{op['data']:#x}); // polled")
        elif kind == "mem_init":
            memory = MEMORIES[op["mem"]]
            lines.append(f"mem_init({memory}, {op['addr']:#x}, {op['size']:#x}, {op['pattern']});")
        elif kind == "mem_load":
            lines.append(f'mem_load({MEMORIES[op["mem"]]}, {op["addr"]:#x}, "{op["file"]}");')
            pieces = [
                f"{{offset:{o:#x}, size:{len(d)}, payload:{' '.join(f'0x{b:02x}' for b in d)} }}"
                for o, d in runs(op)
            ]
            (folder / op["file"]).write_text("\n".join(pieces))
        elif kind == "intr":
            lines.append(f"intr_notify({op['name']}, {op['sync']});")
        elif kind == "check_crc":
            lines.append(
                f"check_crc({op['sync']}, 1, {op['addr']:#x}, {op['size']:#x}, {op['crc']:#x});"
            )
        elif kind == "check_none":
            lines.append(f"check_nothing({op['sync']});")
    file = folder / f"{trace['name']}.cfg"
    file.write_text("\n".join(lines) + "\n")
    return file


def write_txn(trace: dict[str, Any], folder: Path) -> Path:
    """A packed test in the text form of the v1 hardware."""

    def data_file(name: str, data: bytes) -> None:
        rows = ["W = 8", "H = 8"]
        rows += [" ".join(f"0x{b:02x}" for b in data[i : i + 32]) for i in range(0, len(data), 32)]
        (folder / name).write_text("\n".join(rows))

    lines = ["# write_reg(reg_addr, reg_data)"]
    for op in trace["ops"]:
        kind = op["op"]
        word = f"{0xFFFF0000 | op.get('addr', 0) >> 2:#x}"
        if kind == "reg_write":
            lines.append(f"write_reg {word} {op['data']:#x} #{op['reg']}")
        elif kind == "reg_check":
            lines.append(f"read_reg {word} {op['mask']:#x} {op['data']:#x}")
        elif kind == "wait_intr":
            lines.append("wait")
        elif kind == "mem_load":
            size = max(o + len(d) for o, d in runs(op))
            whole = bytearray(size)
            for offset, data in runs(op):
                whole[offset : offset + len(data)] = data
            data_file(op["file"], bytes(whole))
            lines.append(f"load_mem {op['addr']:#x} {size:#x} {op['file']}")
        elif kind == "check_mem":
            data_file(op["file"], blob(op))
            lines.append(f"dump_mem {op['addr']:#x} {op['size']:#x} {op['file']}")
    file = folder / "input.txn"
    file.write_text("\n".join(lines) + "\n")
    return file


def call(*words: str) -> subprocess.CompletedProcess[str]:
    command = [warm.python(), "-m", "cudla_sim", "nvdla", "replay", *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_packed_traces_on_every_configuration(fixtures: Path) -> None:
    result = call(str(PACKED.parent), "--all-configs", "--json")
    found = json.loads(result.stdout)
    bad = [(t["name"], t["config"]) for t in found["traces"] if t["verdict"] != "pass"]
    assert bad == []
    assert len(found["traces"]) == 174
    assert result.returncode == 0


def test_y_stage_of_nv_small_warns_once_and_passes_by_on_the_chip(
    fixtures: Path, tmp_path: Path
) -> None:
    """Public traces were made with the C model, which has the stage; the RTL has none."""
    for name in ("sdp_3x3x33_ew_int8_reg_0", "sdp_3x3x33_ew_le_exp_int8"):
        folder = tmp_path / name
        folder.mkdir()
        write_cfg(packed(name), folder)
    command = [warm.python(), "-m", "cudla_sim", "nvdla", "replay", str(tmp_path), "--json"]
    command += ["--config", "nv_small"]
    for behaviour, verdict in (("strict", "pass"), ("chip", "fail")):
        environment = {**os.environ, "CUDLA_SIM_HARDWARE": behaviour}
        result = subprocess.run(
            command, capture_output=True, text=True, check=False, env=environment
        )
        assert [t["verdict"] for t in json.loads(result.stdout)["traces"]] == [verdict] * 2
        assert result.stderr.count("nv_small has no Y stage") == 1


@pytest.mark.parametrize("name", ["dc_1x1x8_1x1x8x1_int8_0", "cdp_1x1x1_lrn3_int8_0"])
def test_cfg_form(fixtures: Path, tmp_path: Path, name: str) -> None:
    (trace,) = read(write_cfg(packed(name), tmp_path))
    outcome = play(trace)
    assert (outcome.verdict, outcome.failures) == ("pass", [])
    assert outcome.layers


@pytest.mark.parametrize("name", ["sanity1", "conv_8x8_fc_int16"])
def test_txn_form(fixtures: Path, tmp_path: Path, name: str) -> None:
    (trace,) = read(write_txn(packed(name), tmp_path))
    outcome = play(trace)
    assert (outcome.verdict, outcome.failures) == ("pass", [])


@pytest.mark.parametrize(
    "order",
    [
        ["0x00010000", "0x00040000", "0x00100000", "0x00000001"],
        ["0x00040000", "0x00110001"],  # as the virtual platform tells it of small weights
        ["0x00010000", "0x00140001"],
        ["0x00150001"],
    ],
)
def test_until(fixtures: Path, tmp_path: Path, order: list[str]) -> None:
    """gem5-NVDLA's traces: interrupts come in the order that was recorded, alone or together."""
    file = write_txn(packed("conv_8x8_fc_int16"), tmp_path)
    lines = file.read_text().splitlines()
    first, last = lines.index("wait"), next(i for i, x in enumerate(lines) if "dump_mem" in x)
    waits = [f"{word} 0xffff0003 {bits}" for bits in order for word in ("until", "write_reg")]
    file.write_text("\n".join([*lines[:first], *waits, *lines[last:]]))
    (trace,) = read(file)
    outcome = play(trace)
    assert (outcome.verdict, outcome.failures) == ("pass", [])


def test_until_something_that_never_comes(fixtures: Path, tmp_path: Path) -> None:
    file = write_txn(packed("conv_8x8_fc_int16"), tmp_path)
    file.write_text(file.read_text().replace("wait\n", "until 0xffff0003 0x00080000\n", 1))
    (trace,) = read(file)
    outcome = play(trace)
    assert outcome.verdict == "fail"
    assert "GLB.S_INTR_STATUS is 0x150001; 0x80000 is expected" in outcome.failures[0]


def test_wrong_result_is_located(fixtures: Path, tmp_path: Path) -> None:
    """The third byte of the golden is changed: its address is named, and the command fails."""
    trace = packed("conv_8x8_fc_int16")
    file = write_txn(trace, tmp_path)
    golden = next(op for op in trace["ops"] if op["op"] == "check_mem")
    text = (tmp_path / golden["file"]).read_text().splitlines()
    row = next(i for i, line in enumerate(text) if line.startswith("0x"))
    words = text[row].split()
    words[2] = f"{int(words[2], 16) ^ 1:#04x}"
    text[row] = " ".join(words)
    (tmp_path / golden["file"]).write_text("\n".join(text))
    outcome = play(next(read(file)))
    assert outcome.verdict == "fail"
    assert f"the first at {golden['addr'] + 2:#x}" in outcome.failures[0]
    assert "last layer: 0, CONV+SDP" in outcome.failures[0]
    assert call(str(file)).returncode == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text", "why"),
    [
        ("x.cfg", "reg_write(NVDLA_SDP.D_NO_SUCH_0, 1);", "x.cfg:1"),
        ("x.cfg", "\nfrobnicate(1);", "x.cfg:2"),
        ("x.cfg", "reg_write(", "cannot read"),
        ("input.txn", "write_reg 0xffff1404", "input.txn:1"),
        ("input.txn", "load_mem 0x80000000 0x20 missing.dat", "missing.dat"),
        ("x.jsonl", "{}", "x.jsonl:1"),
        ("x.bin", "", "not a trace"),
    ],
)
def test_broken_files(tmp_path: Path, name: str, text: str, why: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(TraceError, match=why.replace(".", r"\.")):
        _ = [play(trace) for trace in read(tmp_path / name)]
    result = call(str(tmp_path / name))
    assert result.returncode == 1
    assert "Traceback" not in result.stderr


def test_map_and_configuration_must_fit(tmp_path: Path) -> None:
    file = tmp_path / "x.cfg"
    file.write_text("reg_write(NVDLA_SDP.S_POINTER_0, 0);")
    result = call(str(file), "--config", "nv_full")
    assert result.returncode == 1
    assert "register map" in result.stderr


def test_event_that_never_comes_is_a_failure_and_no_hang(tmp_path: Path) -> None:
    file = tmp_path / "x.cfg"
    file.write_text("intr_notify(SDP_0, done);\ncheck_crc(done, 1, 0x80000000, 0x20, 0);")
    outcome = play(next(read(file)))
    assert outcome.verdict == "fail"
    assert "done never came; nothing is enabled" in outcome.failures[0]


def test_addresses_outside_memory_are_reported(tmp_path: Path) -> None:
    file = tmp_path / "x.cfg"
    file.write_text("mem_init(pri_mem, 0xffffffffffff, 0x20, ALL_ZERO);")
    outcome = play(next(read(file)))
    assert outcome.verdict == "fail"
    assert "is in no range" in outcome.failures[0] or "past the end" in outcome.failures[0]
