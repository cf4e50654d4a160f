"""What register fields and lists can hold; most fields are stored minus 1.

Source: nvdla hardware manual, register descriptions.
"""

from __future__ import annotations

LARGEST = 8192
"""Width, height and channels of a cube, and kernels: 13 bits, minus 1."""

CONVOLUTION_KERNEL, CONVOLUTION_STRIDE, CONVOLUTION_PAD = 32, 8, 31
"""Lines and columns of a kernel, its steps, and the pads above and left of the input."""

CONVOLUTION_DILATION = 32
"""Distance of a kernel's taps."""

POOLING_KERNEL, POOLING_STRIDE, POOLING_PAD = 8, 8, 7
"""Limits of PDP; its registers have room for a stride of 16, the firmware refuses more than 8."""

RUBIK_STRIDE = 32
"""Positions that RUBIK contracts on an axis."""

CDP_START_BITS, CDP_SHIFT_LEFT = 22, 31
"""Bits that CDP takes of the starts of its tables in int8 (signed; the registers hold 38), and how
far it can shift an index of LO to the left. Source: nvdla/hw master
``vmod/nvdla/cdp/NV_NVDLA_CDP_DP_LUT_CTRL_unit.v``."""

NORMALISED_CHANNELS = (3, 5, 7, 9)
"""Channels that CDP takes the squares of."""

MOST_ADDRESSES = 6144
"""Entries of a task's address list. Source: nvdla/sw ``nvdla_inf.h``."""

MOST_OPERATIONS = 32767
"""Operations of a task: consumers name them by signed 16-bit numbers."""
