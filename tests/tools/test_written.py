"""Who wrote which bytes last, against a list of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cudla_sim.tools.nvdla.written import Written, ranges

SIZE = 60
SPANS = st.lists(
    st.tuples(st.integers(0, SIZE - 1), st.integers(1, 20)).map(lambda x: (x[0], x[0] + x[1])),
    min_size=1,
    max_size=4,
)


@given(st.lists(SPANS, max_size=12), SPANS)
def test_the_last_writer_of_each_byte(
    writes: list[list[tuple[int, int]]], wanted: list[tuple[int, int]]
) -> None:
    found, naive = Written(), [-1] * (SIZE + 20)
    for number, spans in enumerate(writes):
        found.write(spans, f"n{number}")
        for begin, end in spans:
            naive[begin:end] = [number] * (end - begin)
    seen = {naive[at] for begin, end in wanted for at in range(begin, end)} - {-1}
    assert found.read(wanted) == [f"n{n}" for n in sorted(seen, reverse=True)]


@given(
    channels=st.integers(1, 40),
    height=st.integers(1, 5),
    width=st.integers(1, 5),
    more=st.integers(0, 3),
    row=st.integers(0, 2),
    column=st.integers(0, 2),
    atom=st.sampled_from([8, 32]),
)
def test_bytes_of_a_piece_in_its_tensor(
    channels: int, height: int, width: int, more: int, row: int, column: int, atom: int
) -> None:
    """Each element of the piece, by the formula of the manual; size as loadables give it: of whole
    surfaces."""
    line = (column + width + more) * atom
    surface = (row + height + more) * line
    surfaces = -(-channels // atom)
    offset = row * line + column * atom
    cube = {
        "shape": [channels, height, width], "offset": offset, "size": surfaces * surface,
        "line_stride": line, "surface_stride": surface,
    }  # fmt: skip
    expected = {
        offset + s * surface + h * line + w * atom + byte
        for s in range(surfaces)
        for h in range(height)
        for w in range(width)
        for byte in range(atom)
    }
    spans = list(ranges(cube, atom))
    assert sum(end - begin for begin, end in spans) == len(expected)
    assert {at for begin, end in spans for at in range(begin, end)} == expected
