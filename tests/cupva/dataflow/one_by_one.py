"""The tiles of a grid one after the other, each with integers of its own: what the arrays of
:mod:`cudla_sim.cupva.dataflow.grid` must give, and in the words of the first tile that breaks a
rule."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from cudla_sim.cupva.dataflow.base import Location, Locator, Tile
from cudla_sim.cupva.dataflow.raster import Layout, RasterDataFlow
from cudla_sim.cupva.dataflow.tensor import TensorDataFlow
from cudla_sim.cupva.dma import MAX_PAD, Move, Padding, Side
from cudla_sim.cupva.errors import CupvaError, Error, error, invalid

from . import naive


class Window(NamedTuple):
    x: int
    y: int
    width: int
    height: int
    padding: Padding


class Piece(NamedTuple):
    """A window, its first plane and their number."""

    window: Window
    plane: int
    planes: int


def read_window(
    corner: tuple[int, int], size: tuple[int, int], extent: tuple[int, ...], mode: int, value: int
) -> Window:
    x, y = corner
    left = sum(1 for _ in range(x, min(0, x + size[0])))
    top = sum(1 for _ in range(y, min(0, y + size[1])))
    right = len(range(max(x, extent[0]), x + size[0]))
    bottom = len(range(max(y, extent[1]), y + size[1]))
    width, height = size[0] - left - right, size[1] - top - bottom
    if width < 1 or height < 1:
        raise invalid(
            f"the tile at ({x}, {y}) of {size[0]} x {size[1]} pixels does not touch the image of "
            f"{extent[0]} x {extent[1]}"
        )
    pads = {"left": left, "right": right, "top": top, "bottom": bottom}
    for name, count in pads.items():
        if count > MAX_PAD:
            raise invalid(
                f"the tile at ({x}, {y}) needs {count} pixels of padding {name}; the engine pads "
                f"0 to {MAX_PAD}"
            )
    return Window(x + left, y + top, width, height, Padding(*pads.values(), mode, value))


def write_window(flow: RasterDataFlow | TensorDataFlow, x: int, y: int) -> Window:
    x0, y0, width, height = flow.roi_rectangle
    columns = [c for c in range(x, x + flow.tile_size[0]) if c < x0 + width]
    lines = [r for r in range(y, y + flow.tile_size[1]) if r < y0 + height]
    return Window(x, y, len(columns), len(lines), Padding())


def corners(
    flow: RasterDataFlow | TensorDataFlow, order: list[tuple[int, int]]
) -> Iterator[tuple[int, int]]:
    x0, y0, _, _ = flow.roi_rectangle
    for column, row in order:
        yield x0 + column * flow.tile_size[0], y0 + row * flow.tile_size[1]


# --- RasterDataFlow ---


def raster_pieces(flow: RasterDataFlow) -> Iterator[Piece]:
    hx, hy = flow.halo_size
    for x, y in corners(flow, naive.raster_order(*flow.grid, flow.scan)):
        if flow.reads:
            window = read_window(
                (x - hx, y - hy), flow.vmem_size, flow.extent, flow.pad_mode, flow.pad_value
            )
        else:
            window = write_window(flow, x, y)
        yield Piece(window, 0, 1)


def raster_place(flow: RasterDataFlow, number: int, room: int) -> tuple[int, int]:
    """Byte offset in the tile buffer, and line pitch in pixels."""
    layout, width = flow.layout(room), flow.vmem_size[0]
    if layout is Layout.CIRCULAR:
        return number * width * flow.pixel_bytes % flow.ring_bytes, 2 * width
    return (flow.half(room) if layout is Layout.DOUBLE and number % 2 else 0), width


def raster_moves(flow: RasterDataFlow, locate: Locator) -> list[Move]:
    flow.check()
    flow.require_handler()
    image, buffer, room = flow.places(locate)
    flow.layout(room)
    found, bpp = [], flow.pixel_bytes
    for number, (window, _, _) in enumerate(raster_pieces(flow)):
        offset, pitch = raster_place(flow, number, room)
        ring = None
        if flow.layout(room) is Layout.CIRCULAR:
            ring = (-offset // bpp, flow.ring_bytes // bpp)
        start = image.at + (window.y * flow.pitch + window.x) * bpp
        outside = Side(image.space, start, image.limits, flow.pitch, what=image.what)
        inside = Side(
            buffer.space, buffer.at + offset, buffer.limits, pitch, ring=ring, what=buffer.what
        )
        found.append(checked(flow, window, flow.vmem_size, outside, inside, 1, number))
    return found


def raster_tiles(flow: RasterDataFlow, locate: Locator) -> list[Tile]:
    flow.check()
    _, buffer, room = flow.places(locate)
    flow.layout(room)
    return [
        tile(piece, number, buffer, raster_place(flow, number, room)[0])
        for number, piece in enumerate(raster_pieces(flow))
    ]


# --- TensorDataFlow ---


def tensor_pieces(flow: TensorDataFlow) -> Iterator[Piece]:
    hx, hy = flow.halo_size
    across, down, deep = flow.grid
    for x, y in corners(flow, [(column, row) for row in range(down) for column in range(across)]):
        if flow.reads:
            window = read_window(
                (x - hx, y - hy), flow.plane_size, flow.extent, flow.pad_mode, flow.pad_value
            )
            one_sided(flow.name, window)
        else:
            window = write_window(flow, x, y)
        for layer in range(deep):
            first = layer * flow.tile_depth
            yield Piece(window, first, min(flow.tile_depth, flow.extent[2] - first))


def one_sided(name: str, window: Window) -> None:
    pad = window.padding
    for one, other, names in (
        (pad.left, pad.right, "left and right"), (pad.top, pad.bottom, "top and bottom"),
    ):  # fmt: skip
        if one and other:
            raise invalid(
                f"{name}: the tile over ({window.x}, {window.y}) leaves the tensor at {names} "
                f"({one} and {other} pixels with halo); it may leave one side of an axis"
            )


def tensor_moves(flow: TensorDataFlow, locate: Locator) -> list[Move]:
    flow.check()
    flow.require_handler()
    tensor, buffer, room = flow.places(locate)
    half, (width, height), bpp = flow.half(room), flow.plane_size, flow.pixel_bytes
    found = []
    for number, (window, plane, planes) in enumerate(tensor_pieces(flow)):
        start = plane * flow.depth_stride + window.y * flow.row_stride + window.x
        outside = Side(
            tensor.space, tensor.at + start * bpp, tensor.limits, flow.row_stride,
            ((planes, flow.depth_stride),), what=tensor.what,
        )  # fmt: skip
        inside = Side(
            buffer.space, buffer.at + number % 2 * half, buffer.limits, width,
            ((planes, width * height),), what=buffer.what,
        )  # fmt: skip
        found.append(checked(flow, window, flow.plane_size, outside, inside, planes, number))
    return found


def tensor_tiles(flow: TensorDataFlow, locate: Locator) -> list[Tile]:
    flow.check()
    _, buffer, room = flow.places(locate)
    half = flow.half(room)
    return [
        tile(piece, number, buffer, number % 2 * half)
        for number, piece in enumerate(tensor_pieces(flow))
    ]


# --- both ---


def checked(
    flow: RasterDataFlow | TensorDataFlow, window: Window, vmem_size: tuple[int, int],
    outside: Side, inside: Side, planes: int, number: int,
) -> Move:  # fmt: skip
    size = vmem_size if flow.reads else (window.width, window.height)
    source, target = (outside, inside) if flow.reads else (inside, outside)
    move = Move(*size, flow.pixel_bytes, source, target, window.padding, per_trigger=planes)
    try:
        move.check()
    except CupvaError as failure:
        text = f"tile {number} at ({window.x}, {window.y}): {failure.explanation}"
        raise error(Error(failure.status), text) from None
    return move


def tile(piece: Piece, number: int, buffer: Location, offset: int) -> Tile:
    window = piece.window
    return Tile(
        number, window.x, window.y, window.width, window.height, piece.plane, window.padding,
        buffer.at + offset, number,
    )  # fmt: skip
