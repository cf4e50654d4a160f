"""The executables answer as the real ones do."""

from __future__ import annotations

import os
import select
import subprocess
import sys
from pathlib import Path

import pytest

from tests import warm

SHOWS = "import os, sys; print(sys.argv, os.getcwd(), os.environ['HERE'], __name__, input())"


def answer(*words: str, folder: Path, **more: str) -> tuple[int, str, str]:
    environment = {**os.environ, "HERE": "here", **more}
    done = subprocess.run(
        words,
        input="in\n",
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("-c", SHOWS, "a", "b c"),
        ("-c", "import sys; sys.exit('why')"),
        ("-c", "raise SystemExit(300)"),
        ("-c", "import os; os.kill(os.getpid(), 9)"),
        ("-c", "import atexit; atexit.register(print, 'last')"),
        ("-m", "module", "x"),
        ("-m", "module", "text"),
        ("-m", "module", "true"),
        ("-m", "cudla_sim", "--cflags", "--libs"),
        ("-m", "cudla_sim", "frobnicate"),
        ("module.py", "y"),
        ("--version",),
    ],
    ids=lambda words: " ".join(words),
)
def test_as_the_real_one(words: tuple[str, ...], tmp_path: Path) -> None:
    tmp_path.joinpath("module.py").write_text(
        f"{SHOWS}\nends = {{'text': 'why', 'true': True}}\nsys.exit(ends.get(sys.argv[1]))\n"
    )
    real = answer(sys.executable, *words, folder=tmp_path)
    assert answer(warm.python(), *words, folder=tmp_path) == real


def test_settings_of_python_are_those_of_a_real_one(tmp_path: Path) -> None:
    words = (warm.python(), "-c", "print(hash('a'))")
    found = {answer(*words, folder=tmp_path, PYTHONHASHSEED=seed) for seed in "12"}
    same = {answer(*words, folder=tmp_path, PYTHONHASHSEED="1") for _ in range(2)}
    assert len(found) == 2
    assert len(same) == 1


def test_what_is_killed_takes_along_what_it_started() -> None:
    text = "import os; print(os.getpid(), flush=True); input()"
    with subprocess.Popen(
        [warm.python(), "-c", text], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdout is not None
        watched = os.pidfd_open(int(client.stdout.readline()))
        client.kill()
        assert select.select([watched], [], [], 60)[0], "it goes on"
        os.close(watched)
