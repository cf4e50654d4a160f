"""``using Name = Name<...>`` in a class, as CUB has it: nvcc takes it, g++ alone does not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from cudla_sim.cuda_kernels.rewrite import rewrite

from .conftest import nvcc

SOURCE = """
namespace lib { inline namespace v1 {
template <class T, int N>
struct Layout { static constexpr int size = N; };
template <class T> class Other { public: T value; };
namespace {
template <class T> struct Own { T value; };
}
} }
template <class T> struct Outer { T value; };
namespace lib { inline namespace v1 { namespace inner {
struct User {
    using Layout = Layout<int, 7>;
    typedef Other<float> Other;
    using Own = Own<char>;
    using Outer = Outer<double>;
    int size() const
    {
        return Layout::size + (int)(sizeof(Other) + sizeof(Own) + sizeof(Outer));
    }
};
} } }
__global__ void sizes(int *out) { *out = lib::inner::User().size(); }
"""


def test_it_compiles(tmp_path: Path) -> None:
    source = tmp_path / "names.cu"
    source.write_text(
        SOURCE + "int main() { return lib::inner::User().size() != 7 + 4 + 1 + 8; }\n"
    )
    done = nvcc(source, "-o", tmp_path / "names")
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([tmp_path / "names"], check=False).returncode == 0


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("using Layout = Layout<", "using Layout = ::lib::v1::Layout<"),
        ("typedef Other<float> Other", "typedef ::lib::v1::Other<float> Other"),
        ("using Own = Own<", "using Own = ::lib::v1::Own<"),
        ("using Outer = Outer<", "using Outer = ::Outer<"),
    ],
)
def test_names_are_in_full(text: str, made: str) -> None:
    assert text in SOURCE
    assert made in rewrite(SOURCE)


def test_what_is_no_template_stays() -> None:
    text = "struct A { template <class T> struct B {}; using C = B<int>; using A = A<int>; };\n"
    assert rewrite(text) == text


def test_what_nobody_included_is_not_there(tmp_path: Path) -> None:
    """A user's own libcu++ has the names of ours in an inline namespace."""
    (tmp_path / "cuda").mkdir()
    (tmp_path / "cuda" / "atomic").write_text(
        """#pragma once
        namespace cuda { inline namespace own {
        enum memory_order { memory_order_relaxed, memory_order_acquire };
        enum thread_scope { thread_scope_device };
        template <class T, thread_scope S> struct atomic_ref { static constexpr int number = 5; };
        namespace std { using cuda::own::memory_order; }
        } }
        """
    )
    source = tmp_path / "order.cu"
    source.write_text(
        """#include <cuda/atomic>
        using Reference = cuda::atomic_ref<int, cuda::thread_scope_device>;
        __global__ void kernel(int *to) { __nv_atomic_store_n(to, Reference::number, 0); }
        int main() { return cuda::memory_order_acquire + Reference::number - 6; }
        """
    )
    done = nvcc("-I", tmp_path, source, "-o", tmp_path / "order")
    assert (done.returncode, done.stderr) == (0, "")
    assert subprocess.run([tmp_path / "order"], check=False).returncode == 0
