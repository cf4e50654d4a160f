"""Python that has imported already what our commands import.

A command that a test starts takes a few milliseconds, and half a second until Python, numpy and we
are imported. ``python()`` is an executable with the words of ``python``, ``command()`` one with
those of ``cudla-sim``: they hand them, their descriptors, folder and environment to a process that
forks for each. How the tests of starting, of imports and of ends start Python stays what it is.
"""

from __future__ import annotations

import atexit
import functools
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent


def python() -> str:
    """Takes ``-m module``, ``-c text`` or a file, and words for it; with anything else, and with
    other settings of Python or of the loader in its environment, it is the real one."""
    return str(bin_folder() / "python")


def command() -> str:
    """``cudla-sim``."""
    return str(bin_folder() / "cudla-sim")


@functools.cache
def bin_folder() -> Path:
    """The folder with both, to have before others in PATH. Their server ends with this process."""
    made = tempfile.TemporaryDirectory(prefix="cudla-sim-warm-")
    folder = Path(made.name)
    socket = folder / "socket"
    client = folder / "python"
    names = [f'-DSOCKET="{socket}"', f'-DPYTHON="{sys.executable}"']
    build = ["gcc", "-O1", "-Wall", "-Wextra", "-Werror", *names]
    subprocess.run([*build, HERE / "client.c", "-o", client], check=True)
    (folder / "cudla-sim").symlink_to(client)
    server = subprocess.Popen(
        [sys.executable, "-m", "tests.warm.server", str(socket)],
        cwd=HERE.parent.parent,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # it forks, and may have no threads
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdout is not None
    assert server.stdout.readline() == b"ready\n"

    def end() -> None:
        server.terminate()
        server.wait()
        made.cleanup()

    atexit.register(end)
    return folder
