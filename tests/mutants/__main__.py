"""``python -m tests.mutants [WORD ...]``: all edits, or those whose file holds a word."""

from __future__ import annotations

import os
import queue
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from cudla_sim.core.untrusted import read_toml
from tests.conftest import ROOT

COPIED = ("codegen", "include", "shim", "pyimpl", "tests", "docs", "c_examples", "benchmarks")
FILES = ("build_ffi.py", "pyproject.toml", "README.md", "SECURITY.md", "CONTRIBUTING.md")
PATIENCE_S = 240
"""For the tests of one edit; one that makes them run longer is noticed as well."""
ALL_S = 1200
"""For all tests without an edit."""


@dataclass(frozen=True)
class Edit:
    """``before`` stands once in ``file``. ``killed_by``: files or names of tests, as pytest takes
    them. ``reason``: why it may survive."""

    file: str
    before: str
    after: str
    killed_by: tuple[str, ...]
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.file}: {self.before!r} -> {self.after!r}"


def edits() -> list[Edit]:
    """Those of the list. Raises ValueError for one that does not fit the sources."""
    entries = read_toml(Path(__file__).parent / "edits.toml")["edit"]
    found = [Edit(**{**entry, "killed_by": tuple(entry["killed_by"])}) for entry in entries]
    for edit in found:
        if (ROOT / edit.file).read_text().count(edit.before) != 1:
            raise ValueError(f"{edit.file} does not hold {edit.before!r} once")
    return found


class Copy:
    """A copy of the sources with what was built in it, in which edits are tried."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "clone"
        for name in COPIED:
            shutil.copytree(ROOT / name, self.root / name, symlinks=True)
        for name in FILES:
            shutil.copy(ROOT / name, self.root)
        # links of a checkout lead to its own sources
        for path in self.root.rglob("*"):
            if path.is_symlink() and str(path.readlink()).startswith(f"{ROOT}/"):
                target = self.root / path.readlink().relative_to(ROOT)
                path.unlink()
                path.symlink_to(target)

    def passes(self, tests: Iterable[str], patience_s: int = PATIENCE_S) -> tuple[bool, str]:
        """Whether all these tests pass, and what pytest said last."""
        environment = {
            **os.environ,
            "PYTHONPATH": str(self.root / "pyimpl"),
            "CUDLA_SIM_FIXTURES": str(self.root / "none"),
            "HYPOTHESIS_STORAGE_DIRECTORY": str(self.root / ".hypothesis"),
        }
        command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", *tests]
        try:
            run = subprocess.run(
                command,
                cwd=self.root,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=patience_s,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return False, "they did not end"
        last = run.stdout.strip().splitlines()[-1:] or [run.stderr.strip()[-200:]]
        if run.returncode in (4, 5):  # no such tests
            raise RuntimeError(f"{' '.join(command)}: {last[0]}")
        return run.returncode == 0, last[0]

    def survives(self, edit: Edit) -> tuple[bool, str]:
        """Whether its tests pass with it, and what pytest said last."""
        path = self.root / edit.file
        text = path.read_text()
        path.write_text(text.replace(edit.before, edit.after))
        try:
            return self.passes(edit.killed_by)
        finally:
            path.write_text(text)


def main(words: list[str]) -> int:
    chosen = [e for e in edits() if not words or any(word in e.file for word in words)]
    begin, bad = time.monotonic(), 0
    waiting: queue.SimpleQueue[Edit | None] = queue.SimpleQueue()
    results: queue.SimpleQueue[tuple[Edit, bool, str]] = queue.SimpleQueue()
    workers = min(len(os.sched_getaffinity(0)), len(chosen))

    def work(copy: Copy) -> None:
        while (edit := waiting.get()) is not None:
            try:
                results.put((edit, *copy.survives(edit)))
            except Exception as error:
                results.put((edit, True, repr(error)))

    for edit in [*chosen, *[None] * workers]:
        waiting.put(edit)
    with tempfile.TemporaryDirectory() as name:
        copies = [Copy(Path(name) / str(number)) for number in range(workers)]
        tests = tuple(dict.fromkeys(test for edit in chosen for test in edit.killed_by))
        passed, said = copies[0].passes(("-n", "auto", "--dist", "loadfile", *tests), ALL_S)
        if not passed:
            print(f"the tests do not pass without an edit: {said}")
            return 2
        threads = [threading.Thread(target=work, args=(copy,)) for copy in copies]
        for thread in threads:
            thread.start()
        for _ in chosen:
            edit, survived, said = results.get()
            if survived:
                bad += not edit.reason
                print(f"survived: {edit}\n  {edit.reason or said}", flush=True)
        for thread in threads:
            thread.join()
    took = time.monotonic() - begin
    print(f"{len(chosen)} edits in {took / 60:.1f} min, {bad} survivors without a reason")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
