"""Whether a submission says what an earlier one of its stream said (``cupva.again``).

Equal words in the program's memory stand for the same objects as long as their handles live: no
handle is given out twice.
"""

from __future__ import annotations

from typing import Any

from ...core import process
from ...cupva.again import MOST_KNOWN, Again
from ...cupva.batch import Batch
from ...cupva.commands import Command, RequestFences, RunProgram
from ...cupva.posted import suits
from ...cupva.stream import Stream
from ...native.said import Said
from .fences import COMMAND_MARK


class Known(Again):
    """``entries``: what the handles table has of all that the commands name."""

    __slots__ = ("entries", "said")

    said: Said
    entries: list[tuple[int, tuple[str, Any]]]

    def meant(self, cmds: Any, count: int) -> bool:
        """Whether these commands are those. Raises CupvaError for what is wrong with the program
        by now."""
        if not (self.said.again(cmds, count) and process.current().handles.still(self.entries)):
            return False
        return self.original.program.still(self.program) or self.renew()


def find(stream: Stream, cmds: Any, count: int) -> Known | None:
    """The record of the same submission."""
    for known in stream.known:
        if isinstance(known, Known) and known.meant(cmds, count):
            return known
    return None


def keep(stream: Stream, cmds: Any, given: list[Command], batch: Batch, execution: int) -> None:
    """Remembers a submission, if it is one that the stream can begin at once.

    ``given``: its commands, as the program has them.
    """
    if not stream.remembers or not suits(batch, execution):
        return
    program = given[0]
    assert isinstance(program, RunProgram), "suits() looked"
    if program.program.pointed:
        return
    said = Said(cmds, len(given), COMMAND_MARK)
    entries = process.current().handles.entries(said.words)
    fences = sum(len(c.fences) for c in given if isinstance(c, RequestFences))
    if len(entries) != 1 + fences:  # its sync object has gone, or it says more than is kept
        return
    known = Known(program, batch.commands, batch.in_order)
    known.said, known.entries = said, entries
    others = [k for k in stream.known if isinstance(k, Known) and k.said.words != said.words]
    stream.known = [known, *others[: MOST_KNOWN - 1]]
