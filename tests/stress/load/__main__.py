"""``python -m tests.stress.load``: see the package."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from cudla_sim.testing import Compiler

from . import COUNTS, command, figures


def main() -> int:
    scale = float(sys.argv[1]) if sys.argv[1:] else 1.0
    bad = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for kind, count in COUNTS.items():
            asked = max(int(count * scale), 100)
            words = command(kind, asked, Compiler(folder), Path(sys.executable).parent, folder)
            done = subprocess.run(words, stdout=subprocess.PIPE, text=True, check=False)
            if done.returncode:
                print(f"{kind}: ended with {done.returncode}")
                bad = 1
                continue
            early, end = figures(done.stdout)
            print(
                f"{kind}: {asked:,} in {end.seconds:.0f} s; private memory {early.kib} -> {end.kib}"
                f" KiB, descriptors {early.files} -> {end.files}",
                flush=True,
            )
    return bad


if __name__ == "__main__":
    sys.exit(main())
