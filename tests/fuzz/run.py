"""python -m tests.fuzz.run SECONDS [TARGET ...]: looks for inputs that break something.

Each target runs in a process of its own, case by case; a case is a number, and the same number is
the same case. A case that raises, crashes, hangs or meets an internal error is kept as
build/fuzz/TARGET-NUMBER.txt with what was said, and `python -m tests.fuzz.run --case TARGET NUMBER`
runs it again.
"""

from __future__ import annotations

import faulthandler
import os
import re
import subprocess
import sys
import time
from pathlib import Path
from random import Random

ROOT = Path(__file__).resolve().parent.parent.parent
KEPT = ROOT / "build" / "fuzz"
CASE_S = 20
"""How long one case may take; the first of a process also imports and compiles."""
PATIENCE_S = 60
SETTINGS = {"CUDLA_SIM_STRICT": "1", "PYTHONFAULTHANDLER": "1", "CUDLA_SIM_HOST_SECONDS": "2"}


def child(target: str, first: int, seconds: float) -> int:
    """Runs cases from *first* on, telling the number of each before it begins.

    A case that hangs, in C too, ends the process with the places where its threads are.
    """
    from .targets import TARGETS

    until, number, limit = time.monotonic() + seconds, first, PATIENCE_S
    while time.monotonic() < until or number == first:
        print(f"case {number}", flush=True)
        faulthandler.dump_traceback_later(limit, exit=True)
        TARGETS[target](Random(number))
        faulthandler.cancel_dump_traceback_later()
        number, limit = number + 1, CASE_S
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
                timeout=left + 2 * PATIENCE_S,
                check=False,
            )
            out, said, how = run.stdout, run.stderr, f"exit status {run.returncode}"
            good = run.returncode == 0
        except subprocess.TimeoutExpired as late:
            out, said = _text(late.stdout), _text(late.stderr)
            how, good = f"did not end {2 * PATIENCE_S} s after its time", False
        last = _last(out, number)
        if not good:
            KEPT.mkdir(parents=True, exist_ok=True)
            path = KEPT / f"{target}-{last}.txt"
            path.write_text(f"{how}\n{said[-8000:]}")
            kept.append(path)
        number = last + 1
    return number - first, kept


def _last(out: str, number: int) -> int:
    """The last case that was begun; what the cases themselves print stands between."""
    return int((re.findall(r"^case (\d+)$", out, re.MULTILINE) or [number])[-1])


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
        begin = time.monotonic()
        count, kept = fuzz(target, seconds / len(targets), first)
        bad += len(kept)
        took = time.monotonic() - begin
        text = f"{target}: {count} cases from {first} on in {took:.0f} s, {len(kept)} bad"
        print(text, *kept, sep="\n  ", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
