"""Compiles C files one by one, on all cores, and keeps the objects.

An object is known by its command and its preprocessed text, so it is compiled again when either is
another one. They lie in ``build/objects`` of the checkout, or where BUILD_FFI_OBJECTS says, which
copies of a checkout share.
"""

from __future__ import annotations

import hashlib
import os
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

WAY = "BUILD_FFI_OBJECTS"


_ERROR_LINES = 20


def run(command: Sequence[str]) -> str:
    """Returns what the command prints. Raises SystemExit with its first error lines."""
    if os.environ.get("CUDLA_SIM_BUILD_VERBOSE"):
        print(shlex.join(command), file=sys.stderr)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        lines = (done.stdout + done.stderr).splitlines()
        shown = lines[:_ERROR_LINES]
        if len(lines) > len(shown):
            shown.append(f"... and {len(lines) - len(shown)} more lines")
        raise SystemExit("\n".join([f"build_ffi: failed: {shlex.join(command)}", *shown]))
    return done.stdout


@cache
def _version(compiler: str) -> str:
    return run([*shlex.split(compiler), "--version"])


class Objects:
    """``moving``: folders whose names change from build to build; ``-ffile-prefix-map`` keeps them
    out of the objects."""

    def __init__(self, root: Path, moving: Sequence[Path]) -> None:
        given = os.environ.get(WAY)
        self.folder = Path(given) if given else root / "build" / "objects"
        self.folder.mkdir(parents=True, exist_ok=True)
        self._moving = [str(path) for path in (*moving, root)]
        self._shared = bool(given)
        self._used: set[Path] = set()

    def compile(self, command: Sequence[str], sources: Sequence[str | Path]) -> list[str]:
        """The objects of ``sources``, by a command without ``-c`` and ``-o``; large ones first."""
        largest = sorted(set(map(str, sources)), key=lambda s: -Path(s).stat().st_size)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            made = dict(
                zip(largest, pool.map(lambda s: self._one(command, s), largest), strict=True)
            )
        return [made[str(source)] for source in sources]

    def _one(self, command: Sequence[str], source: str) -> str:
        # what -I finds the text has; names in other words, an interpreter's, are part of the object
        words = [
            self._unmoved(word) if word.startswith("-ffile-prefix-map=") else word
            for word in command
            if not word.startswith("-I")
        ]
        text = self._unmoved(run([*command, "-E", source]))
        whole = "\n".join([_version(command[0]), *words, text])
        key = hashlib.sha256(whole.encode(errors="surrogateescape")).hexdigest()[:32]
        target = self.folder / f"{Path(source).stem}-{key}.o"
        self._used.add(target)
        if not target.exists():
            fresh = target.with_suffix(f".{os.getpid()}")
            run([*command, "-c", source, "-o", str(fresh)])
            fresh.rename(target)
        return str(target)

    def _unmoved(self, text: str) -> str:
        for n, path in enumerate(self._moving):
            text = text.replace(path, f"<{n}>")
        return text

    def forget_others(self) -> None:
        """Removes what this build has not used."""
        if not self._shared:
            for path in set(self.folder.iterdir()) - self._used:
                path.unlink(missing_ok=True)
