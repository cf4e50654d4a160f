"""Names from files cannot write to a terminal."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core import events
from cudla_sim.core.events import Event
from cudla_sim.core.text import printable, tell
from cudla_sim.nvdla import Loadable, layout_picture
from cudla_sim.nvdla.inspect import describe, render
from cudla_sim.obs import log
from cudla_sim.tools.root import run_command
from cudla_sim.tools.text_table import Table
from tests.nvdla.cosim.conftest import relu

EVIL = "x\x1b[2J\x1b]0;title\x07\r\n\u202egnp\x9b1m"


@given(st.text())
def test_what_is_shown_is_printable(text: str) -> None:
    shown = printable(text)
    assert shown.isprintable()
    assert printable(shown) == shown
    if text.isprintable():
        assert shown == text


def test_inspect_layout_and_tables_show_no_escapes() -> None:
    data = relu().replace(b"relu0", b"\x1b[2J\r")
    loadable = Loadable.parse(data)
    assert loadable.outputs[0].name == "\x1b[2J\r"
    for text in (render(describe(loadable)), layout_picture.picture(loadable.outputs[0])):
        assert all(line.isprintable() for line in text.split("\n"))
        assert "\\x1b[2J\\r" in text
    table = Table(("name",))
    table.add(EVIL)
    assert all(line.isprintable() for line in table.lines())


def test_errors_and_the_log_show_no_escapes(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    tell(f"one {EVIL}\ntwo")
    log.layers(Event("layer", EVIL, "DLA0", 0, 1, {"shape": EVIL}))
    log.api(Event("call", "f", EVIL, 0, 1, {"status": "", "explanation": EVIL, "arguments": EVIL}))
    events.warn(EVIL)
    for command in (["inspect"], ["compile", "-o", "out"], ["report"], ["nvdla", "replay"], [EVIL]):
        assert run_command([*command, str(tmp_path / EVIL)]) > 0
    said = capsys.readouterr()
    assert "\\x1b[2J" in said.err
    for line in (said.out + said.err).split("\n"):
        assert line.isprintable(), line
