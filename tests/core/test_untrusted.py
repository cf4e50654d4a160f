"""Files that nobody can trust: one sentence for each, never a traceback, a hang or much memory."""

from __future__ import annotations

import ast
import contextlib
import gzip
import io
import os
import re
import struct
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cudla_sim.core import untrusted
from cudla_sim.core.config import Config, ConfigError, from_environment
from cudla_sim.core.untrusted import Unreadable
from tests.conftest import ROOT

DEEP = 200_000


def npy(array: np.ndarray, **how: bool) -> bytes:
    file = io.BytesIO()
    np.lib.format.write_array(file, array, **how)
    return file.getvalue()


def header(text: str) -> bytes:
    data = text.encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(data)) + data


@pytest.mark.parametrize(
    "text",
    [
        b"[" * DEEP, b'{"a":' * DEEP, b"", b"{", b"\xff\xfe", b"nul", b"1" * 5000, b'"\\ud800',
        b"\x00",
    ],
)  # fmt: skip
def test_json(text: bytes) -> None:
    with pytest.raises(Unreadable) as caught:
        untrusted.parse_json(text)
    assert "\n" not in str(caught.value)


def test_toml(tmp_path: Path) -> None:
    for text in (b"a = " + b"[" * DEEP, b"a = \xff", b"a =", b"a = 1\na = 2"):
        (tmp_path / "t.toml").write_bytes(text)
        with pytest.raises(Unreadable):
            untrusted.read_toml(tmp_path / "t.toml")


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\x93NUMPY", b"\x93NUMPY\x01\x00", b"\x93NUMPY\x09\x00\x10\x00",
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000, 1000), }"),
        header("{'descr': '<f4', 'fortran_order': False, 'shape': (-4,), }") + b"1234",
        header("{'descr': '|O', 'fortran_order': False, 'shape': (1,), }") + b"12345678",
        header("{'descr': 'zz', 'fortran_order': False, 'shape': (1,), }"),
        header("(" * 5000), header("[]"), header("{'shape': 1}"),
        npy(np.arange(10))[:-1],
    ],
)  # fmt: skip
def test_npy(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(data)
    for mapped in (False, True):
        with pytest.raises(Unreadable) as caught:
            untrusted.read_npy(tmp_path / "a.npy", mapped=mapped)
        assert "\n" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 4), max_size=4),
    st.sampled_from(["i1", "<f4", ">i2", "<f2", "?", "<c8"]), st.booleans(), st.integers(0, 2**31),
)  # fmt: skip
def test_arrays_are_numpys(shape: list[int], dtype: str, fortran: bool, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 100, shape).astype(dtype)
    array = np.asfortranarray(values) if fortran else values
    data = npy(array)
    found = untrusted.parse_npy(data)
    assert found.dtype == array.dtype
    assert found.shape == array.shape
    assert (found == np.load(io.BytesIO(data))).all()


def archive(method: int = zipfile.ZIP_DEFLATED, **files: bytes) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", method) as opened:
        for name, data in files.items():
            opened.writestr(name, data)
    return target.getvalue()


def test_archives() -> None:
    good = archive(a=b"x" * 1000, b=b"")
    assert untrusted.unzip(good) == {"a": b"x" * 1000, "b": b""}
    with pytest.raises(Unreadable, match="unpacks to"):
        untrusted.unzip(archive(a=bytes(5 << 20)), most=1 << 20)
    with pytest.raises(Unreadable, match="files; 10000 at most"):
        untrusted.unzip(archive(zipfile.ZIP_STORED, **{str(n): b"" for n in range(10_001)}))
    encrypted = bytearray(good)
    for at in (6, good.index(b"PK\x01\x02") + 8):
        encrypted[at] |= 1
    with pytest.raises(Unreadable, match="encrypted"):
        untrusted.unzip(bytes(encrypted))
    odd = bytearray(good)
    for at in (8, good.index(b"PK\x01\x02") + 10):
        odd[at] = 97
    with pytest.raises(Unreadable, match="damaged archive"):
        untrusted.unzip(bytes(odd))


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_damaged_archives(data: st.DataObject) -> None:
    content = bytearray(archive(a=b"some text" * 30, b=npy(np.arange(30))))
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    end = data.draw(st.integers(0, len(content)))
    with contextlib.suppress(Unreadable):  # anything else fails the test
        untrusted.unzip(bytes(content[:end] if end % 3 == 0 else content), most=1 << 20)


def test_gzip() -> None:
    packed = gzip.compress(b"one" * 1000)
    assert untrusted.gunzip(packed + gzip.compress(b"two")) == b"one" * 1000 + b"two"
    for bad in (packed[:-9], packed[:30], b"no gzip", packed + b"rest"):
        with pytest.raises(Unreadable):
            untrusted.gunzip(bad)
    with pytest.raises(Unreadable, match="more than 1 MiB"):
        untrusted.gunzip(gzip.compress(bytes(50 << 20)), most=1 << 20)


def test_pipes_and_devices_are_no_files(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("/dev/zero")
    for name in ("pipe", "link"):
        for read in (
            untrusted.read_bytes,
            untrusted.read_json,
            untrusted.read_toml,
            untrusted.read_npy,
        ):
            with pytest.raises(Unreadable, match="a device or a pipe"):
                read(tmp_path / name)
        with pytest.raises(ConfigError, match="a device or a pipe"):
            from_environment({"CUDLA_SIM_CONFIG_FILE": str(tmp_path / name)})
    with pytest.raises(Unreadable, match="a folder"):
        untrusted.read_bytes(tmp_path)
    assert from_environment({}) == Config()


OPENINGS = {
    "json": {"load", "loads"}, "tomllib": {"load", "loads"}, "np": {"load", "fromfile", "memmap"},
    "gzip": {"open", "decompress"}, "zipfile": {"ZipFile"}, "onnx": {"load", "load_model"},
    "pickle": {"load", "loads"},
}  # fmt: skip
TRUSTED = {
    "core/untrusted.py": "the reader itself",
    "nvdla/parts/package.py": "writes an archive",
    "tools/schemas.py": "a schema of the package",
    "upmem/timing/profiling.py": "what our own compiler put into a program",
    "evaluation/pipes.py": "what our own processes say to each other",
    "tools/upmem/native.py": "what our own processes say to each other",
    "upmem/debug/native/in_gdb.py": "what our own processes say to each other",
    "tools/onnx/trtexec.py": "names of nodes of a model that the compiler reads",
}


def test_nobody_opens_files_of_others_otherwise() -> None:
    package = ROOT / "pyimpl" / "cudla_sim"
    spelled = re.compile("|".join(rf"\b{module}\s*\." for module in OPENINGS))
    found = []
    for file in sorted(package.rglob("*.py")):
        name = str(file.relative_to(package))
        text = file.read_text()
        if name in TRUSTED or name.startswith(("sdk/", "include/")) or not spelled.search(text):
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
                value = node.func.value
                if isinstance(value, ast.Name) and node.func.attr in OPENINGS.get(value.id, ()):
                    found.append(f"{name}:{node.lineno}: {value.id}.{node.func.attr}")
    assert found == []
