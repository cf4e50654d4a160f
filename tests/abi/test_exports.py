"""``codegen/exports.txt``: the committed list of what the libraries export."""

from __future__ import annotations

import fnmatch
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

import build_ffi
from cudla_sim import paths

LIST = build_ffi.EXPORTS


def listed(library: str) -> set[tuple[str, str]]:
    """(symbol, version) of the lines that name a library."""
    rows = (line.split() for line in LIST.read_text().splitlines() if not line.startswith("#"))
    return {
        (symbol, "" if version == "-" else version)
        for symbol, version, libraries in rows
        if library in libraries.split(",")
    }


def exported(file: Path) -> Iterator[tuple[str, str]]:
    """(symbol, version) as nm finds them."""
    command = ["nm", "-D", "--with-symbol-versions", "--defined-only", str(file)]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    for line in text.splitlines():
        *_, kind, name = line.split()
        if kind != "A":  # the versions themselves
            symbol, _, version = name.replace("@@", "@").partition("@")
            yield symbol, version


@pytest.mark.parametrize(
    "library",
    ["libcudla_sim.so", "libcudart_sim.so", "libcudla.so", "cuda/libcudart.so", "libdpu.so"],
)
def test_built_library_exports_the_listed_names(library: str) -> None:
    wanted, found = listed(library), set(exported(paths.lib_dir() / library))
    patterns = {(symbol, version) for symbol, version in wanted if set(symbol) & set("*[")}
    assert wanted - patterns <= found
    others = found - wanted
    for symbol, version in others:
        assert any(fnmatch.fnmatchcase(symbol, p) and version == v for p, v in patterns), symbol


def test_list_is_sorted_and_names_each_library() -> None:
    rows = [line for line in LIST.read_text().splitlines() if not line.startswith("#")]
    assert [row.split()[:2] for row in rows] == sorted(row.split()[:2] for row in rows)
    named = {library for row in rows for library in row.split()[2].split(",")}
    built = [*paths.lib_dir().glob("*.so"), *paths.lib_dir().glob("*/*.so")]
    assert named == {str(path.relative_to(paths.lib_dir())) for path in built}


def test_list_lacks_a_name_verify_prints_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert build_ffi.verify() == 0
    assert capsys.readouterr().out == ""
    lines = LIST.read_text().splitlines(keepends=True)
    shorter = tmp_path / "exports.txt"
    shorter.write_text("".join(line for line in lines if not line.startswith("cudlaSubmitTask ")))
    assert build_ffi.verify(shorter) == 1
    out = capsys.readouterr().out
    assert "+cudlaSubmitTask - libcudla.so,libcudla_sim.so\n" in out
    assert out.endswith("python build_ffi.py --exports\n")
