"""What cuDLA applications include beside CUDA, and what they expect of unordered streams."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .conftest import Run

SHAPES = st.sampled_from((4, 5)).flatmap(
    lambda rank: st.tuples(
        st.lists(st.integers(1, 7), min_size=rank, max_size=rank).filter(
            lambda shape: math.prod(shape) <= 1024  # a half counts to 2048
        ),
        st.permutations(range(rank)),
    )
)


@given(SHAPES)
@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_a_permuted_copy_is_that_of_numpy(seams: Run, example: tuple[list[int], list[int]]) -> None:
    shape, order = example
    done = seams("permute", *shape, *order)
    assert done.returncode == 0, done.stderr
    wanted = np.arange(math.prod(shape)).reshape(shape).transpose(order).ravel()
    assert [float(word) for word in done.stdout.split()] == wanted.tolist()


def test_a_non_blocking_stream_follows_what_was_launched_before(seams: Run) -> None:
    done = seams(CUDLA_SIM_CUDA_CHECKS="streams=warn")
    assert (done.returncode, done.stdout) == (0, "10\n"), done.stderr
    assert done.stderr.count("add_one in CUDA stream 1, which is non-blocking, does not wait") == 1
    assert not seams().stderr


def test_a_kernel_has_memory_of_its_own(seams: Run) -> None:
    done = seams("memory")
    assert (done.returncode, done.stdout) == (0, f"{8 * sum(range(32))}\n"), done.stderr
