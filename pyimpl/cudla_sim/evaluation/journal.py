"""What has been computed, so that an interrupted evaluation goes on where it stopped.

A file of JSON lines beside the results: the first one says of what, each other one holds the rows
of one batch. A line that the end of the process cut off does not count.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from ..core import untrusted
from .errors import EvaluationError, Interrupted
from .score import Row

if TYPE_CHECKING:
    from typing_extensions import Self

FORMAT = 1


class Journal:
    """``rows``: by sample, those of earlier runs and of this one. Raises EvaluationError: the file
    is of another evaluation, another process writes it, or it cannot be written."""

    def __init__(self, results: Path | None, about: dict[str, Any]) -> None:
        self.rows: dict[int, Row] = {}
        self.path = None if results is None else results.with_name(results.name + ".journal")
        self._file: Any = None
        if self.path is None:
            return
        about = {"format": FORMAT, **about}
        try:
            self._file = open(self.path, "a+b")  # noqa: SIM115
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._file.close()
            raise EvaluationError(f"{self.path} is being written by another process") from None
        except OSError as error:
            raise EvaluationError(f"{self.path}: {error.strerror}") from None
        try:
            self._begin(about)
        except BaseException:
            self._file.close()
            raise

    def _begin(self, about: dict[str, Any]) -> None:
        self._file.seek(0)
        whole = self._file.read()
        end = whole.rfind(b"\n") + 1
        lines = whole[:end].splitlines()
        if not lines:
            self._file.truncate(0)
            self._append(about)
            return
        try:
            known, *batches = [untrusted.parse_json(line) for line in lines]
            for batch in batches:
                self.rows.update((int(row["sample"]), row) for row in batch)
        except (ValueError, TypeError, KeyError):
            raise EvaluationError(f"{self.path} is no journal; remove it, or --restart") from None
        other = [name for name in about if known.get(name) != about[name]]
        if other:
            raise EvaluationError(
                f"{self.path} is of an interrupted evaluation with other {', '.join(other)}; "
                "--restart begins anew"
            )
        self._file.truncate(end)

    def _append(self, item: Any) -> None:
        try:
            self._file.write(json.dumps(item, separators=(",", ":")).encode() + b"\n")
            self._file.flush()
            os.fdatasync(self._file.fileno())
        except OSError as error:
            raise Interrupted(f"{self.path}: {error.strerror}") from None

    def add(self, rows: list[Row]) -> int:
        """Keeps the rows of samples that have none yet; how many these are."""
        fresh = [row for row in rows if row["sample"] not in self.rows]
        if fresh:
            if self._file is not None:
                self._append(fresh)
            self.rows.update((row["sample"], row) for row in fresh)
        return len(fresh)

    def finish(self) -> None:
        """The results are written: it is not needed any more."""
        if self.path is not None:
            self.path.unlink(missing_ok=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._file is None:
            return
        # One without rows helps nobody, and what was refused once is refused again.
        refused = isinstance(error, EvaluationError) and not isinstance(error, Interrupted)
        if self.path is not None and (refused or not self.rows):
            self.path.unlink(missing_ok=True)
        self._file.close()
