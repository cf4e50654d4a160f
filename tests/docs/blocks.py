"""The code blocks of a Markdown page, and running them."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from cudla_sim.core.untrusted import parse_toml
from tests import warm
from tests.conftest import ROOT

IN_A_COPY = ("docs/inside/adding_api.md", "docs/inside/adding_mode.md")
"""Pages that change a clone: their blocks run in a copy of it (``test_adding.py``)."""

NOT_RUN = "# not run by the tests: "
"""How the first line of a shell block begins that cannot run here; the reason follows."""
_FENCE = re.compile(r"^( *)```(\w*)([^\n]*)\n(.*?)^\1```$", re.MULTILINE | re.DOTALL)
_FILES = {"c", "cpp", "cuda", "cmake", "make", "dockerfile", "yaml", "ini"}
"""Languages of files that a later block uses."""


@dataclass(frozen=True)
class Block:
    """*title* is a file's name, or "output" for what the block before prints."""

    page: str
    line: int
    language: str
    title: str
    text: str

    def __str__(self) -> str:
        return f"{self.page}:{self.line}"


def blocks(page: Path) -> list[Block]:
    """All fenced blocks of a page."""
    text = page.read_text()
    found = []
    for match in _FENCE.finditer(text):
        title = re.search(r'title="([^"]*)"', match[3])
        line = text.count("\n", 0, match.start()) + 1
        name = str(page.relative_to(ROOT))
        found.append(Block(name, line, match[2], title[1] if title else "", match[4]))
    return found


def pages() -> list[Path]:
    """README.md and every page of the site that is not made from the code."""
    beside = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
    return [*beside, *sorted((ROOT / "docs").rglob("*.md"))]


def _environment(python: Path) -> dict[str, str]:
    """A user's shell with our commands, without settings."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("CUDLA_SIM_", "PYTEST"))}
    ours = [str(warm.bin_folder())] if python == Path(sys.executable) else []
    path = os.pathsep.join([*ours, str(python.parent), kept["PATH"]])
    return {**kept, "PATH": path, "CLONE": str(ROOT)}


def apply(folder: Path, text: str) -> None:
    """Changes files below *folder* as a unified diff says. A part of it (``@@``) has to stand in
    its file exactly once; where is of no account."""
    for change in re.split(r"^--- ", text, flags=re.MULTILINE)[1:]:
        head, *parts = re.split(r"^@@.*\n", change, flags=re.MULTILINE)
        name = re.search(r"^\+\+\+ b/(\S+)$", head, re.MULTILINE)
        assert name is not None, text
        file = folder / name[1]
        found = file.read_text()
        for part in parts:
            lines = part.splitlines(keepends=True)
            old = "".join(line[1:] or "\n" for line in lines if line[0] != "+")
            new = "".join(line[1:] or "\n" for line in lines if line[0] != "-")
            assert found.count(old) == 1, f"{name[1]}: {found.count(old)} times:\n{old}"
            found = found.replace(old, new)
        file.write_text(found)


class Shell:
    """Runs the blocks of one page, one after the other, in one folder, with the commands beside an
    interpreter."""

    def __init__(self, folder: Path, python: Path = Path(sys.executable)) -> None:
        self.folder = folder
        self.python = python
        self.printed = ""

    def take(self, block: Block) -> None:
        """Writes, runs or compares a block. Raises AssertionError with what went wrong."""
        if block.title and block.title != "output":
            target = self.folder / block.title
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(block.text)
        if block.language == "sh":
            if not block.text.startswith(NOT_RUN):
                self._run(block, ["bash", "-euo", "pipefail", "-c", block.text])
        elif block.language == "python" and not block.title:
            self._run(block, ["python", "-c", block.text])
        elif block.title == "output":
            assert same(self.printed, block.text), f"{block}: printed\n{self.printed}"
        elif block.language == "diff":
            apply(self.folder, block.text)
        elif block.language == "json":
            json.loads(block.text)
        elif block.language == "toml":
            parse_toml(block.text)
        elif block.language in _FILES:
            assert block.title, f"{block}: a {block.language} block names its file: title=..."
        else:
            assert block.language in ("text", "python"), f"{block}: {block.language!r} is not run"

    def _run(self, block: Block, command: list[str]) -> None:
        done = subprocess.run(
            command,
            cwd=self.folder,
            env=_environment(self.python),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
            check=False,
        )
        self.printed = done.stdout
        assert done.returncode == 0, f"{block}: {done.returncode}\n{done.stdout}{done.stderr}"


def same(printed: str, expected: str) -> bool:
    """Line by line; ``...`` stands for anything in a line, and alone for any lines."""
    found = [line.rstrip() for line in printed.strip().splitlines()]
    wanted = [line.rstrip() for line in expected.strip().splitlines()]
    return _match(found, wanted)


def _match(found: list[str], wanted: list[str]) -> bool:
    if not wanted:
        return not found
    if wanted[0].strip() == "...":
        return any(_match(found[skip:], wanted[1:]) for skip in range(len(found) + 1))
    pattern = wanted[0].replace("[", "[[]").replace("...", "*")
    return bool(found) and fnmatch.fnmatchcase(found[0], pattern) and _match(found[1:], wanted[1:])
