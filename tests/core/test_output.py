"""Files that commands write: whole or not at all, and never in the place of something else."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from cudla_sim.core.output import OutputError, check_writable, write_whole


def test_a_file_is_replaced_and_nothing_else_appears(tmp_path: Path) -> None:
    file = tmp_path / ("x" * 250)  # as long as names may be
    for data in (b"first", b"second"):
        write_whole(file, data)
        assert file.read_bytes() == data
    assert list(tmp_path.iterdir()) == [file]


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    file, link = tmp_path / "file", tmp_path / "link"
    file.write_bytes(b"old")
    link.symlink_to("file")
    write_whole(link, b"new")
    assert link.is_symlink()
    assert file.read_bytes() == b"new"


def test_a_pipe_gets_the_bytes(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    check_writable(pipe)
    write_whole(pipe, b"bytes")
    reader.join()
    assert found == [b"bytes"]
    assert pipe.is_fifo()


@pytest.mark.parametrize(
    ("name", "why"),
    [("none/file", "No such file"), ("file/inner", "Not a directory"), ("", "Is a directory")],
)
def test_places_that_cannot_be_written(tmp_path: Path, name: str, why: str) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(OutputError, match=why):
        check_writable(tmp_path / name)
    with pytest.raises(OutputError):
        write_whole(tmp_path / name, b"data")
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]
