"""Names that CUDA C++ has, by what they mean to a region."""

from __future__ import annotations

from .declarations import BUILT_IN

OF_THE_BLOCK = ("size", "num_threads", "group_index", "group_dim", "dim_threads")
OF_A_THREAD = ("thread_rank", "thread_index")
"""Functions of cooperative_groups::thread_block."""
TYPES = BUILT_IN | {
    "size_t", "ssize_t", "ptrdiff_t", "intptr_t", "uintptr_t", "uint", "uchar", "ushort", "ulong",
    *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)),
}  # fmt: skip

PURE = frozenset(
    f"{name}{kind}"
    for name in (
        "min", "max", "abs", "ceil", "floor", "round", "sqrt", "log2", "exp2", "pow", "fmin",
        "fmax", "fabs", "rint", "trunc",
    )
    for kind in ("", "f")
) | {
    "umin", "umax", "__ffs", "__clz", "__popc", "__mul24", "__umul24", "__mulhi", "__umulhi",
    "this_thread_block", "static_cast", "reinterpret_cast", "const_cast", "sizeof", "alignof",
    "make_int2", "make_int3", "make_int4", "make_uint2", "make_uint3", "make_uint4", "dim3",
}  # fmt: skip
"""Functions that do nothing but compute from numbers."""
BY_VALUE = PURE | {"if", "while", "for", "switch", "return", "printf"}
"""What changes none of the names that stand in its brackets by themselves."""
