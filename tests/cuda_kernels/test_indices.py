"""threadIdx and its like: what they are in expressions, and whose thread a fault is."""

from __future__ import annotations

import numpy as np
import pytest

from .conftest import Run, compiled

indices = compiled("indices")


def test_what_programs_make_of_them(indices: Run) -> None:
    done = indices()
    assert done.returncode == 0, done.stderr
    found = dict(line.split(" ", 1) for line in done.stdout.splitlines())
    assert found["status"] == "0"
    block, y, x = np.mgrid[:3, :5, :4]
    expected = [np.minimum(x, 2), (x + y) * 100 + block, 0 * x + 20 * 100 + 3, x, 0 * x + 1007]
    expected.append(x * 10 + y)
    assert found["all"].split() == [str(v) for v in np.stack(expected, axis=-1).ravel()]
    total = 0
    for at in range(1 << 16):
        total = (total * 31 + (at % 128 * 3 + at // 128) % 256) % (1 << 64)
    assert found["bytes"] == str(total)
    assert found["own"] == "2 3"


@pytest.mark.parametrize(("at", "size"), [(0, 64), (4097, 64), (65535, 256), (777, 1024)])
def test_a_fault_names_its_thread(indices: Run, at: int, size: int) -> None:
    done = indices("fault", at, size)
    assert done.stdout == "700\n"  # cudaErrorIllegalAddress
    place = f"block ({at // size}, 0, 0), thread ({at % size}, 0, 0): "
    assert place in done.stderr
    assert "access to address 0x10, where no memory is mapped" in done.stderr
