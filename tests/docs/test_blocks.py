"""Every code block of the README and the site runs as it stands."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ROOT

from .blocks import IN_A_COPY, NOT_RUN, Shell, blocks, pages, same

# Pages that need more than the package: module to import, or program.
NEEDS = {
    "docs/onnx_tutorial.md": "onnxruntime",
    "docs/onnx.md": "onnx",
    "docs/dla/tutorial.md": "onnxruntime",
    "docs/cudla/yolov5.md": "onnx",
    "docs/cupva/dataflows.md": "matplotlib",
    "docs/cluster.md": "distributed",
}
PROGRAMS = {
    "docs/install.md": ("cmake", "pkg-config"),
    "docs/cluster.md": ("openssl",),
    "docs/upmem/debugging.md": ("gdb",),
}


def _by_tier() -> list[object]:
    """The README and the tutorials are fast tests, all other pages are slow ones."""
    fast = ("README.md", "tutorial.md")
    slow = pytest.mark.slow
    return [p if p.name in fast else pytest.param(p, marks=slow) for p in pages()]


@pytest.mark.parametrize("page", _by_tier(), ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_run(page: Path, tmp_path: Path) -> None:
    name = str(page.relative_to(ROOT))
    if name in IN_A_COPY:
        return
    if name in NEEDS:
        pytest.importorskip(NEEDS[name])
    for program in PROGRAMS.get(name, ()):
        if shutil.which(program) is None:
            pytest.skip(f"there is no {program}")
    shell = Shell(tmp_path)
    for block in blocks(page):
        shell.take(block)


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_blocks_that_do_not_run_say_why(page: Path) -> None:
    for block in blocks(page):
        assert "not run" not in block.text.splitlines()[0] or block.text.startswith(NOT_RUN), block


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_block_hides_that_it_fails(page: Path) -> None:
    """A command that is to fail has ``!`` before it. ``head`` and ``grep -m`` read files: behind a
    pipe they end a command at random."""
    for block in blocks(page):
        if block.language == "sh" and not block.text.startswith(NOT_RUN):
            early = r"\| *head\b|\| *grep [^|\n]*(-m|-q|-\w*[mq]\b)"
            assert not re.search(rf"\|\| *(true|:)|{early}", block.text), block


@pytest.mark.parametrize("page", pages(), ids=lambda p: str(p.relative_to(ROOT)))
def test_no_block_hides_from_from_these_tests(page: Path) -> None:
    """Indented code has no language and would not be run."""
    paragraphs = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S).split("\n\n")
    before = ""
    for paragraph in paragraphs:
        inside = before.lstrip().startswith(("- ", "* ", ":::")) or before.startswith("    ")
        assert inside or not paragraph.startswith("    "), f"{page}: fence this block:\n{paragraph}"
        before = paragraph


def test_expected_output_has_places_for_anything() -> None:
    assert same("a 12 b\nc\n", "a ... b\nc")
    assert same("a\nb\nc\nd\n", "a\n...\nd")
    assert not same("a\nb\n", "a")
    assert not same("a [1]\n", "a 1")
    assert same("a [1]\n", "a [1]")
