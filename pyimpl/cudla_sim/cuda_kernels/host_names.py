"""Functions of the C and C++ libraries whose names kernels have, too.

Their headers are precompiled, so a translation unit's text does not show what they declare.
``using namespace std`` is common in programs with a kernel ``reduce`` or ``fill``.
"""

from __future__ import annotations

from collections.abc import Sequence

from .kernels import before
from .tokens import Token

_ALGORITHM = """
    adjacent_find all_of any_of binary_search clamp copy copy_backward copy_if copy_n count
    count_if equal equal_range fill fill_n find find_end find_first_of find_if find_if_not for_each
    for_each_n generate generate_n includes inplace_merge is_heap is_heap_until is_partitioned
    is_permutation is_sorted is_sorted_until iter_swap lexicographical_compare lower_bound
    make_heap max max_element merge min min_element minmax minmax_element mismatch move
    move_backward next_permutation none_of nth_element partial_sort partial_sort_copy partition
    partition_copy partition_point pop_heap prev_permutation push_heap remove remove_copy
    remove_copy_if remove_if replace replace_copy replace_copy_if replace_if reverse reverse_copy
    rotate rotate_copy sample search search_n set_difference set_intersection
    set_symmetric_difference set_union shift_left shift_right shuffle sort sort_heap
    stable_partition stable_sort swap swap_ranges transform unique unique_copy upper_bound
"""
_NUMERIC = """
    accumulate adjacent_difference exclusive_scan gcd inclusive_scan inner_product iota lcm
    midpoint partial_sum reduce transform_exclusive_scan transform_inclusive_scan transform_reduce
"""
_OTHER = """
    advance apply as_const async back begin bind bit_cast cbegin cend crbegin crend data declval
    destroy distance empty end exchange fixed flush forward front get getline hash hex invoke
    launder left lock make_pair make_tuple mem_fn next not_fn oct prev rbegin ref rend right
    scientific setfill setprecision setw size ssize stod stof stoi stol thread tie to_string
    uninitialized_copy uninitialized_fill uninitialized_move visit
"""
_MATH = """
    abs acos acosh arg asin asinh assoc_laguerre atan atan2 atanh beta cbrt ceil conj copysign cos
    cosh erf erfc exp exp2 expm1 expint fabs fdim floor fma fmax fmin fmod fpclassify frexp hermite
    hypot ilogb imag isfinite isgreater isinf isless isnan isnormal laguerre ldexp legendre lerp
    lgamma llrint llround log log10 log1p log2 logb lrint lround modf nan nearbyint nextafter norm
    polar pow proj real remainder remquo riemann_zeta rint round scalbln scalbn signbit sin sinh
    sqrt tan tanh tgamma trunc
"""
_C = """
    abort atexit bcopy bzero calloc clearerr close div exit free kill link malloc memcpy memmove
    memset open perror pipe qsort raise rand read realloc rewind select setbuf signal sincos sleep
    srand stat swab sync time truncate wait write y0 y1 yn j0 j1 jn gamma index
"""

HOST_NAMES = frozenset(" ".join((_ALGORITHM, _NUMERIC, _OTHER, _MATH, _C)).split())

_ONLY_IN_STD = ("arg",)
"""Device code has the functions of <cmath> in the global namespace, and this one of <complex>."""


def taken_from_std(found: Sequence[Token]) -> None:
    """``using ::arg``, as Eigen has it in device code, becomes ``using std::arg``."""
    for index, token in enumerate(found):
        if token.text in _ONLY_IN_STD:
            scope = before(found, index - 1)
            if found[scope].text == "::" and found[before(found, scope - 1)].text == "using":
                found[scope].text = " std::"
