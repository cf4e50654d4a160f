"""The store of compiled test programs."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from tests import compiled
from tests.compiled import StoredCompiler, stored


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(compiled, "STORE", tmp_path)
    return tmp_path


def _append(folder: Path) -> None:
    with open(folder / "log", "a") as log:
        log.write("built\n")


def _stored(key: str) -> None:
    stored(key, _append)


@pytest.mark.usefixtures("store")
def test_stored_two_processes_build_once() -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_stored, args=("key",)) for _ in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert (stored("key", _append) / "log").read_text() == "built\n"


@pytest.mark.usefixtures("store")
def test_stored_failed_build_is_repeated_in_an_empty_folder() -> None:
    def fail(folder: Path) -> None:
        _append(folder)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        stored("key", fail)
    assert (stored("key", _append) / "log").read_text() == "built\n"


@pytest.mark.usefixtures("store")
def test_stored_compiler_changed_header_builds_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiled.tempfile, "gettempdir", lambda: "/no/such/folder")
    source = '#include "value.h"\nint main(void) { return VALUE; }\n'
    options, statuses = [f"-I{tmp_path}"], []
    for value in (3, 4, 3):
        (tmp_path / "value.h").write_text(f"#define VALUE {value}\n")
        compiler = StoredCompiler(tmp_path)
        program = compiler.build(source, options=options, libraries=[])
        statuses.append(compiler.run(program).status)
    assert statuses == [3, 4, 3]


def test_contents_folder_without_sources_is_refused() -> None:
    with pytest.raises(AssertionError, match="no/such/folder: holds no sources"):
        compiled.contents("no/such/folder")
