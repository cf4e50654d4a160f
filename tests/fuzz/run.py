"""python -m tests.fuzz.run SECONDS [TARGET ...]: looks for inputs that break something.

Each target runs in a process of its own, case by case; a case is a number, and the same number is
the same case. A case that raises, crashes, hangs or meets an internal error is kept as
build/fuzz/TARGET-NUMBER.txt with what was said, and `python -m tests.fuzz.run --case TARGET NUMBER`
runs it again.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "build" / "fuzz"
PATIENCE_S = 60
SETTINGS = {"CUDLA_SIM_STRICT": "1", "PYTHONFAULTHANDLER": "1"}


def child(target: str, first: int, seconds: float) -> int:
    """Runs cases from *first* on, telling the number of each before it begins."""
    from .targets import TARGETS

    until, number = time.monotonic() + seconds, first
    while time.monotonic() < until or number == first:
        print(number, flush=True)
        TARGETS[target](Random(number))
        number += 1
    return 0


def fuzz(target: str, seconds: float, first: int = 0) -> tuple[int, list[Path]]:
    """Cases that ran, and what was kept of the bad ones."""
    until, number, kept = time.monotonic() + seconds, first, []
    while (left := until - time.monotonic()) > 0:
        words = [sys.executable, "-m", "tests.fuzz.run", "--child", target, str(number), str(left)]
        environment = {**os.environ, **SETTINGS}
        try:
            run = subprocess.run(
                words,
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=left + PATIENCE_S,
                check=False,
            )
            out, said, how = run.stdout, run.stderr, f"exit status {run.returncode}"
            good = run.returncode == 0
        except subprocess.TimeoutExpired as late:
            out, said = _text(late.stdout), _text(late.stderr)
            how, good = f"did not end in {PATIENCE_S} s", False
        last = int(out.split()[-1]) if out.split() else number
        if not good:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{target}-{last}.txt"
            path.write_text(f"{how}\n{said[-8000:]}")
            kept.append(path)
        number = last + 1
    return number - first, kept


def _text(data: bytes | str | None) -> str:
    return data.decode(errors="replace") if isinstance(data, bytes) else data or ""


def main(words: list[str]) -> int:
    if words[:1] == ["--child"]:
        return child(words[1], int(words[2]), float(words[3]))
    if words[:1] == ["--case"]:
        os.environ.update(SETTINGS)
        return child(words[1], int(words[2]), 0)
    from .targets import TARGETS

    seconds = float(words[0]) if words else 60
    targets = words[1:] or list(TARGETS)
    first, bad = int(time.time()) % 1_000_000 * 1000, 0
    for target in targets:
        count, kept = fuzz(target, seconds / len(targets), first)
        bad += len(kept)
        print(f"{target}: {count} cases from {first} on, {len(kept)} bad", *kept, sep="\n  ")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
