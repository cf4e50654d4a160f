"""The line buffer of PDP: how wide a pooling may be, and its vertical stripes.

Eight banks keep the partial results of output lines; one bank has room for 16 columns of one atom
in every configuration. Windows that overlap vertically need several lines at once.
Source: nvdla/hw ``vmod/nvdla/pdp/NV_NVDLA_PDP_CORE_cal2d.v`` (lines, merged banks, asserted
widths); nvdla/sw ``PDPNode.cpp`` (stripes). The public compiler computes wider limits for
configurations with small kernel groups than the hardware asserts; the hardware counts here.
"""

from __future__ import annotations

from dataclasses import dataclass

BANKS = 8
COLUMNS_PER_BANK = 16
MOST_STRIPES = 64
WIDEST_STRIPE = 1024


def lines_buffered(kernel: int, stride: int) -> int:
    """Output lines that are in progress at once, for a kernel height and vertical stride."""
    return max(-(-kernel // stride), 1)


def widest(kernel: int, stride: int) -> int:
    """Output columns that the line buffer holds, for a kernel height and vertical stride."""
    lines = lines_buffered(kernel, stride)
    merged = 8 if lines == 1 else 4 if lines == 2 else 2 if lines <= 4 else 1
    return merged * COLUMNS_PER_BANK


def covered(size: int, output: int, kernel: int, stride: int, before: int) -> tuple[int, int]:
    """Input that *output* windows take of *size* lines (or columns), and the pad behind it.

    Lines that no window takes and pads that none reaches disturb what follows: see
    :func:`pending`.
    """
    end = (output - 1) * stride + kernel - before
    return min(end, size), max(end - size, 0)


def pending(size: int, kernel: int, stride: int, before: int, after: int) -> tuple[int, int]:
    """Windows that end behind the input, besides the one that ends with it: how many there are
    and how many PDP expects.

    It divides the pad behind by the stride, as if the last window ended with the pad. Where these
    differ, surfaces (or lines) after the first are wrong. Source: nvdla/hw
    ``vmod/nvdla/pdp/NV_NVDLA_PDP_CORE_cal2d.v`` (flush_num), ``cal1d``.
    """
    windows, over = divmod(size + before + after - kernel, stride)
    expected = after // stride
    if windows < 0:  # a window that hangs over its pads, which no driver asks for
        return 0, 0
    if size + before < kernel:  # all windows end behind the input
        return windows, windows if expected and not over else 0
    if not expected or not over:
        return expected, expected
    return (after - over) // stride, expected


def begun(output: int, stride: int, before: int) -> bool:
    """Whether more windows begin in the pad before the input than there are: PDP opens one for
    each stride of it, and those too many spoil the next surface.

    Source: nvdla/hw ``vmod/nvdla/pdp/NV_NVDLA_PDP_CORE_cal2d.v`` (padding_stride_num).
    """
    return before // stride >= output


Axis = tuple[int, int, int, int, int]
"""Size, kernel, stride, pads before and behind."""


def spoils(vertical: Axis, lines: int, horizontal: Axis, columns: int) -> bool:
    """Whether a pooling with *lines* x *columns* windows leaves something in PDP that disturbs
    those after it: lines that no window takes, whose last column ends a window."""

    def left(axis: Axis, output: int) -> int:
        size, kernel, stride, before, _ = axis
        return size - covered(size, output, kernel, stride, before)[0]

    return left(vertical, lines) > 0 and left(horizontal, columns) == 0


@dataclass(frozen=True, slots=True)
class Stripes:
    """Vertical stripes of a pooling; widths in (first, mid, last) and out, 0 where there is none.

    A stripe reads its own columns and those that its first window shares with the one before;
    these are not counted.
    """

    count: int
    inside: tuple[int, int, int]
    outside: tuple[int, int, int]


def unlike_registers(
    parts: Stripes, kernel: int, stride: int, pads: tuple[int, int], columns: tuple[int, int]
) -> str:
    """Say what is wrong with the widths of stripes; "" if they are right.

    *columns* are those of the whole input and output. Source: nvdla/sw ``PDPNode.cpp``.
    """
    middles = parts.count - 2
    made = (parts.outside[0], parts.outside[1] if middles else 0, parts.outside[2])
    read = (parts.inside[0], parts.inside[1] if middles else 0, parts.inside[2])
    needed = (
        (made[0] - 1) * stride + kernel - pads[0],
        made[1] * stride,
        made[2] * stride - pads[1],
    )
    if read != needed:
        return f"PARTIAL_WIDTH_IN is {read}; PARTIAL_WIDTH_OUT {made} needs {needed}"
    for what, widths, size in (("IN", read, columns[0]), ("OUT", made, columns[1])):
        total = widths[0] + widths[1] * middles + widths[2]
        if total != size:
            return f"PARTIAL_WIDTH_{what} is {widths}: {total} columns in all; must be {size}"
    return ""


def read_width(output: int, kernel: int, stride: int, pads: tuple[int, int]) -> int:
    """Input columns that *output* windows with *pads* (left, right) cover."""
    return (output - 1) * stride + kernel - sum(pads)


def stripes(
    output: int, kernel: tuple[int, int], stride: tuple[int, int], pads: tuple[int, int]
) -> Stripes | None:
    """Split a pooling with *output* columns so that each stripe fits into the line buffer.

    *kernel* and *stride* are (y, x), *pads* (left, right). The input must have exactly
    :func:`read_width` columns; columns that no window reads are left out of the source cube.
    Returns None if more stripes would be needed than the hardware has, or a stripe would be
    smaller than what the next one shares with it.
    """
    limit = widest(kernel[0], stride[0])
    if output <= limit:
        return Stripes(1, (0, 0, 0), (0, 0, 0))
    shared, step = kernel[1] - stride[1], stride[1]
    for middle in range(min(limit, WIDEST_STRIPE // step), 0, -1):
        count = -(-output // middle)
        if count > MOST_STRIPES:
            return None
        first, last = middle, output - middle * (count - 1)
        while last < first:  # the last stripe needs columns of its own behind the right pad
            inner = last * step - pads[1]
            if inner > max(0, -shared) and inner <= WIDEST_STRIPE:
                break
            first, last = first - 1, last + 1
        found = _checked(count, (first, middle, last), kernel[1], step, pads)
        if found is not None:
            return found
    return None


def _checked(
    count: int, columns: tuple[int, int, int], kernel: int, step: int, pads: tuple[int, int]
) -> Stripes | None:
    first, middle, last = columns
    if count == 2:
        middle = 0
    inside = ((first - 1) * step + kernel - pads[0], middle * step, last * step - pads[1])
    used = inside if count > 2 else (inside[0], inside[2])
    shared = kernel - step
    if min(used) <= max(0, -shared) or max(used) > WIDEST_STRIPE or first < 1:
        return None
    if any(width < shared for width in used[:-1]):
        return None
    return Stripes(count, inside, (first, middle, last))
