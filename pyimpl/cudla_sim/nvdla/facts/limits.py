"""What register fields and lists can hold; most fields are stored minus 1.

Source: nvdla hardware manual, register descriptions.
"""

from __future__ import annotations

LARGEST = 8192
"""Width, height and channels of a cube, and kernels: 13 bits, minus 1."""

POOLING_KERNEL, POOLING_STRIDE, POOLING_PAD = 8, 8, 7
"""Limits of PDP; its registers have room for a stride of 16, the firmware refuses more than 8."""

MOST_ADDRESSES = 6144
"""Entries of a task's address list. Source: nvdla/sw ``nvdla_inf.h``."""

MOST_OPERATIONS = 32767
"""Operations of a task: consumers name them by signed 16-bit numbers."""
