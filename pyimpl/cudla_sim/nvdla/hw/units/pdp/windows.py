"""Windows that do not fit the registers, and those that PDP loses count of.

An output of another size than kernel, stride and pads give, and pads that are not smaller than the
kernel, end in wrong numbers or never. Source: runs of the RTL (``tests/nvdla/golden/sweep``).

Windows that end behind the input are finished while the next surface (or line) comes in; how many
there are PDP finds by dividing the pad behind by the stride. And a line of the input that no window
takes leaves a result in the unit, which nobody fetches, if a window ends with the last of its
pixels. Source: nvdla/hw ``vmod/nvdla/pdp/NV_NVDLA_PDP_CORE_cal2d.v``, ``CORE_cal1d``; the second
was found by running it (nv_small).
"""

from __future__ import annotations

from ....errors import HardwareFault
from ....facts.pooling import Stripes, begun, pending, spoils, unlike_registers
from ....facts.windows import output_size
from ...launch import Site
from .registers import Pdp


def _check(p: Pdp) -> None:
    """The windows must be those that kernel, stride, pads and stripes say."""
    for name, sides, axis, made in (
        (
            "WIDTH", ("LEFT", "RIGHT"),
            (p.width, p.kernel_width, p.stride_x, p.pad_left, p.pad_right), p.out_width,
        ),
        (
            "HEIGHT", ("TOP", "BOTTOM"),
            (p.height, p.kernel_height, p.stride_y, p.pad_top, p.pad_bottom), p.out_height,
        ),
    ):  # fmt: skip
        size, kernel, stride, *pads = axis
        for side, pad in zip(sides, pads, strict=True):
            if pad >= kernel:
                raise HardwareFault(
                    "PDP",
                    f"PAD_{side} is {pad} with a kernel of {kernel}; must be less than the kernel",
                )
        expected = output_size(size, kernel, stride, *pads)
        if made < expected or (made > expected and pads[1]):
            raise HardwareFault(
                "PDP",
                f"an output of {p.out_width} x {p.out_height} does not belong to an input of"
                f" {p.width} x {p.height}: {name.lower()} {size} with pads {pads[0]} and {pads[1]},"
                f" kernel {kernel} and stride {stride} gives {expected}",
            )
    if p.splits > 1:
        stripes = Stripes(
            p.splits, (p.in_first, p.in_middle, p.in_last), (p.out_first, p.out_middle, p.out_last)
        )
        pads_x, columns = (p.pad_left, p.pad_right), (p.width, p.out_width)
        wrong = unlike_registers(stripes, p.kernel_width, p.stride_x, pads_x, columns)
        if wrong:
            raise HardwareFault("PDP", wrong)


def settle(site: Site, p: Pdp) -> None:
    """Look at a pooling before it runs, and remember what it leaves to those that follow.

    Raises HardwareFault for sizes, pads and stripes that PDP cannot do.
    """
    _check(p)
    if site.spoiled:
        site.doubt("PDP", f"{site.spoiled}: the poolings after it go wrong or never end")
    atom = site.config.channels_per_atom(p.precision)
    vertical = (p.height, p.kernel_height, p.stride_y, p.pad_top, p.pad_bottom)
    horizontal = (p.width, p.kernel_width, p.stride_x, p.pad_left, p.pad_right)
    for name, axis, several in (
        ("PAD_BOTTOM", vertical, p.channels > atom),
        ("PAD_RIGHT", horizontal, p.splits == 1 and (p.height > 1 or p.channels > atom)),
    ):
        there, expected = pending(*axis)
        if several and there != expected:
            size, kernel, stride, before, after = axis
            raise HardwareFault(
                "PDP",
                f"{name} is {after}, more than the last window of {size} + {before} with kernel"
                f" {kernel} and stride {stride} takes: PDP expects {expected} windows behind the"
                f" input, there are {there}",
            )
    if p.channels > atom and begun(p.out_height, p.stride_y, p.pad_top):
        raise HardwareFault(
            "PDP",
            f"PAD_TOP is {p.pad_top} with stride {p.stride_y}: more windows begin in it than the"
            f" {p.out_height} lines of the output",
        )
    if spoils(vertical, p.out_height, horizontal, p.out_width):
        site.spoiled = (
            f"a pooling of {p.width} x {p.height} took {p.out_height} lines of windows that leave"
            " lines at the end, without columns that they leave"
        )
