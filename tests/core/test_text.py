"""Names from files cannot write to a terminal."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.core.text import printable
from cudla_sim.nvdla import Loadable, layout_picture
from cudla_sim.nvdla.inspect import describe, render
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
