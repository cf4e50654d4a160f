"""Large modules of PTX: kernels are compiled when they are needed, and see the same variables."""

from __future__ import annotations

import ctypes

import pytest

from cudla_sim.abi.cudart import images
from cudla_sim.constants.cudart import cudaError_enum as R
from cudla_sim.cuda_kernels import jit

from .conftest import Cuda

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
PTX = (
    HEAD
    + """
.visible .global .align 4 .u32 count = 5;
.global .align 8 .u64 table[2] = {count, factors+4};
.visible .const .align 4 .u32 factors[2] = {3, 7};
.shared .align 4 .b8 line[128];

.func (.param .b32 out) twice(.param .b32 in)
{
    .reg .b32 %r<3>;
    ld.param.b32 %r1, [in];
    shl.b32 %r2, %r1, 1;
    st.param.b32 [out], %r2;
    ret;
}

.visible .entry add(.param .u32 by)
{
    .reg .b32 %r<4>;
    ld.param.u32 %r1, [by];
    { .param .b32 given; .param .b32 got;
      st.param.b32 [given], %r1;
      call.uni (got), twice, (given);
      ld.param.b32 %r2, [got]; }
    red.global.add.u32 [count], %r2;
    ret;
}

.visible .entry mirror(.param .u64 to)
{
    .reg .b32 %r<10>;
    .reg .b64 %d<8>;
    .shared .align 4 .b8 own[128];
    ld.param.u64 %d1, [to];
    mov.u32 %r1, %tid.x;
    ld.global.u64 %d2, [table];
    ld.global.u32 %r2, [%d2];       // count
    ld.global.u64 %d3, [table+8];
    ld.u32 %r3, [%d3];              // factors[1]
    mad.lo.u32 %r4, %r1, %r3, %r2;
    shl.b32 %r5, %r1, 2;
    mov.u32 %r6, line;
    add.u32 %r7, %r6, %r5;
    st.shared.u32 [%r7], %r4;
    mov.u32 %r6, own;
    add.u32 %r8, %r6, %r5;
    st.shared.u32 [%r8], %r4;
    bar.sync 0;
    sub.u32 %r7, %r7, %r5;
    sub.u32 %r7, %r7, %r5;
    ld.shared.u32 %r9, [%r7+124];
    ld.shared.u32 %r4, [%r8];
    sub.u32 %r9, %r9, %r4;
    mul.wide.u32 %d4, %r1, 4;
    add.s64 %d5, %d1, %d4;
    st.global.u32 [%d5], %r9;
    ret;
}

.visible .entry broken() { nonsense.u32 %r1; ret; }
"""
)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jit, "_LARGE", 0)


def test_kernels_share_the_variables(cuda: Cuda) -> None:
    cuda.ok.cudaFree(None)  # the runtime makes the primary context current
    module, kernel, again = (ctypes.c_void_p() for _ in range(3))
    cuda.ok.cuModuleLoadData(ctypes.byref(module), PTX.encode())
    cuda.ok.cuModuleGetFunction(ctypes.byref(kernel), module, b"add")
    cuda.ok.cuModuleGetFunction(ctypes.byref(again), module, b"add")
    assert kernel.value == again.value
    name = ctypes.c_char_p()
    cuda.ok.cuFuncGetName(ctypes.byref(name), kernel)
    assert name.value == b"add"
    state, most = ctypes.c_int(7), ctypes.c_int()
    cuda.ok.cuFuncIsLoaded(ctypes.byref(state), kernel)
    assert state.value == 0
    cuda.ok.cuFuncGetAttribute(ctypes.byref(most), 0, kernel)  # threads of a block, compiles it
    assert most.value == 1024
    for attribute, version in ((5, 80), (6, 87)):  # of the PTX, of what was made of it
        cuda.ok.cuFuncGetAttribute(ctypes.byref(most), attribute, kernel)
        assert most.value == version
    cuda.ok.cuFuncIsLoaded(ctypes.byref(state), kernel)
    assert state.value == 1
    by = ctypes.c_uint32(20)
    given = (ctypes.c_void_p * 1)(ctypes.addressof(by))
    cuda.ok.cuLaunchKernel(kernel, 1, 1, 1, 2, 1, 1, 0, None, given, None)
    count, size, found = ctypes.c_uint64(), ctypes.c_size_t(), ctypes.c_uint32()
    cuda.ok.cuModuleGetGlobal_v2(ctypes.byref(count), ctypes.byref(size), module, b"count")
    cuda.ok.cuMemcpyDtoH_v2(ctypes.byref(found), count, 4)
    assert (size.value, found.value) == (4, 5 + 2 * 40)

    cuda.ok.cuModuleGetFunction(ctypes.byref(kernel), module, b"mirror")
    to, back = ctypes.c_uint64(), (ctypes.c_uint32 * 32)()
    cuda.ok.cuMemAlloc_v2(ctypes.byref(to), 128)
    given = (ctypes.c_void_p * 1)(ctypes.addressof(to))
    cuda.ok.cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, None, given, None)
    cuda.ok.cuMemcpyDtoH_v2(back, to, 128)
    assert list(back) == [(7 * (31 - t) - 7 * t) & 0xFFFFFFFF for t in range(32)]
    cuda.ok.cuMemFree_v2(to)

    owner = ctypes.c_void_p()
    cuda.ok.cuFuncGetModule(ctypes.byref(owner), kernel)
    assert owner.value == module.value
    cuda.ok.cuModuleGetFunction(ctypes.byref(kernel), module, b"broken")
    cuda.ok.cuFuncIsLoaded(ctypes.byref(state), kernel)
    assert state.value == 0  # unloaded
    for _ in range(2):
        wrong = cuda.cuLaunchKernel(kernel, 1, 1, 1, 1, 1, 1, 0, None, None, None)
        assert wrong == R.CUDA_ERROR_INVALID_PTX
        assert "nonsense.u32" in cuda.sim.last_explanation()
    assert cuda.cuFuncLoad(kernel) == R.CUDA_ERROR_INVALID_PTX
    kernels = (ctypes.c_void_p * 3)()
    cuda.ok.cuModuleEnumerateFunctions(kernels, 3, module)
    assert kernels[1] == kernel.value
    wrong = cuda.cuModuleGetFunction(ctypes.byref(kernel), module, b"none")
    assert wrong == R.CUDA_ERROR_NOT_FOUND
    cuda.ok.cuModuleUnload(module)
    wrong = cuda.cuLaunchKernel(owner, 1, 1, 1, 1, 1, 1, 0, None, None, None)
    assert wrong == R.CUDA_ERROR_INVALID_HANDLE


@pytest.mark.parametrize(
    "text",
    [
        HEAD + ".visible .entry alone() { ret; }",
        PTX + ".func other() { ret; }\n.global .align 8 .u64 pointer = other;",
    ],
)
def test_what_is_better_or_must_be_one_module(text: str) -> None:
    assert jit.in_pieces([("a.ptx", text)]) is None


def test_pieces_name_their_kernels() -> None:
    found = images.as_needed([PTX], "m")
    assert isinstance(found, jit.Pieces)
    assert found.kernels == {"add", "mirror", "broken"}
