"""WRAM FIFOs and other transfers beside DPUs that run, from C programs."""

from __future__ import annotations

import ctypes
import subprocess
from ctypes import byref
from pathlib import Path

import cudla_sim
from cudla_sim import paths
from cudla_sim.capi.prototypes import dpu_fifo_link_t, dpu_set_t
from cudla_sim.testing import Compiler

from .hosting import ASYNC, FROM_DPU, Host, status
from .kernels import Kernel

KERNEL = """
#include <defs.h>
#include <wramfifo.h>
INPUT_FIFO_INIT(input_fifo, 2, 16);
OUTPUT_FIFO_INIT(output_fifo, 3, 8);
BARRIER_INIT(barrier, NR_TASKLETS);
__host volatile uint64_t active = 1;
__host uint64_t sums[NR_TASKLETS];
static void add(uint8_t *input, void *ctx)
{
    sums[me()] += *(uint64_t *)input * (me() + 1);
}
static void answer(uint8_t *input, uint8_t *output, void *ctx)
{
    uint64_t *pair = (uint64_t *)input;
    *(uint64_t *)output = pair[0] * 1000 + pair[1];
}
int main(void)
{
    process_inputs_all_tasklets(&input_fifo, &output_fifo, add, answer, 0, &barrier, &active);
    return 0;
}
"""

# Each DPU gets its own elements while all run, and must give them back in order.
PROGRAM = """
#include <dpu.h>
#include <dpu_management.h>
#include <dpu_runner.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DPUS = @DPUS@, ELEMENTS = @ELEMENTS@, RING = 8 };
static uint64_t in[DPUS][2], out[DPUS][RING], sums[DPUS][3];
static uint32_t seen[DPUS];

static int drain(struct dpu_set_t set, struct dpu_fifo_link_t *link)
{
    struct dpu_set_t dpu;
    uint32_t i;
    int found = 0;
    DPU_ASSERT(dpu_fifo_push_xfer(set, link, DPU_XFER_NO_RESET));
    DPU_FOREACH(set, dpu, i) {
        uint16_t count = get_fifo_size(link, dpu);
        for (uint16_t n = 0; n < count; n++, found++) {
            uint64_t got;
            memcpy(&got, get_fifo_elem(link, dpu, (uint8_t *)out[i], n), 8);
            if (got != (i + 1) * 1000 + seen[i]++) {
                printf("DPU %u: element %u is %lu\\n", i, seen[i] - 1, got);
                exit(1);
            }
        }
    }
    return found;
}

int main(int argc, char **argv)
{
    struct dpu_set_t set, dpu;
    struct dpu_fifo_link_t input, output;
    uint32_t i, found = 0;
    bool done, fault;
    uint64_t active = 0;

    DPU_ASSERT(dpu_alloc(DPUS, NULL, &set));
    DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_link_input_fifo(set, &input, "input_fifo"));
    DPU_ASSERT(dpu_link_output_fifo(set, &output, "output_fifo"));
    DPU_FOREACH(set, dpu, i) DPU_ASSERT(dpu_fifo_prepare_xfer(dpu, &output, out[i]));
    DPU_ASSERT(dpu_launch(set, DPU_ASYNCHRONOUS));
    for (uint64_t n = 0; n < ELEMENTS; n++) {
        DPU_FOREACH(set, dpu, i) {
            in[i][0] = i + 1;
            in[i][1] = n;
            DPU_ASSERT(dpu_fifo_prepare_xfer(dpu, &input, in[i]));
        }
        DPU_ASSERT(dpu_fifo_push_xfer(set, &input, DPU_XFER_DEFAULT));
        found += drain(set, &output);
    }
    while (found < DPUS * ELEMENTS) found += drain(set, &output);
    DPU_ASSERT(dpu_status_rank(set.list.ranks[0], &done, &fault));
    printf("running %d, fault %d\\n", !done, fault);
    DPU_FOREACH(set, dpu) DPU_ASSERT(dpu_prepare_xfer(dpu, &active));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_TO_DPU, "active", 0, 8, DPU_XFER_PARALLEL));
    DPU_ASSERT(dpu_sync(set));
    if (argc > 2) goto end; /* no sums */
    DPU_FOREACH(set, dpu, i) DPU_ASSERT(dpu_prepare_xfer(dpu, sums[i]));
    DPU_ASSERT(dpu_push_xfer(set, DPU_XFER_FROM_DPU, "sums", 0, 24, DPU_XFER_DEFAULT));
    for (i = 0; i < DPUS; i++)
        for (uint64_t t = 0; t < 3; t++)
            if (sums[i][t] != (i + 1) * ELEMENTS * (t + 1)) return 2;
end:
    DPU_ASSERT(dpu_fifo_link_free(&input));
    DPU_ASSERT(dpu_fifo_link_free(&output));
    DPU_ASSERT(dpu_free(set));
    printf("%u elements\\n", found);
    return 0;
}
"""


def test_elements_go_through_dpus_that_run(sim_cc: Compiler, kernel: Kernel) -> None:
    text = PROGRAM.replace("@DPUS@", "70").replace("@ELEMENTS@", "20")
    result = sim_cc.run(sim_cc.build(text), str(kernel(KERNEL, 3)))
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == ["running 1, fault 0", "1400 elements"]


# The same in the DPU's own instructions, with the layout that the vendor's compiler gives FIFOs.
ASSEMBLY = """
    .text
    .globl main
    .type main, @function
main:
    lw r0, zero, input_fifo             // read position
    lw r1, zero, input_fifo + 8         // write position
    jneq r0, r1, work
    lw r2, zero, active
    jnz r2, main
    jump r23
work:
    lw r3, zero, output_fifo
    lw r4, zero, output_fifo + 8
    sub r5, r4, r3
    add r5, r5, -8
    jz r5, work                         // full
    and r6, r0, 3
    lsl r6, r6, 4
    lw r7, r6, __input_fifo_data
    lw r8, r6, __input_fifo_data + 8
    lsl r9, r7, 10                      // 1000 = 1024 - 16 - 8
    lsl r10, r7, 4
    sub r9, r9, r10
    lsl r10, r7, 3
    sub r9, r9, r10
    add r9, r9, r8
    and r6, r4, 7
    lsl r6, r6, 3
    sw r6, __output_fifo_data, r9
    add r4, r4, 1
    sw zero, output_fifo + 8, r4
    add r0, r0, 1
    sw zero, input_fifo, r0
    jump main
    .size main, .-main
    .section .data.__sys_host, "aw", @progbits
#define HOST(name, bytes) .p2align 3; .globl name; .type name, @object; .size name, bytes; name:
    HOST(input_fifo, 32) .quad 0, 0; .long __input_fifo_data, 0, 2, 16
    HOST(output_fifo, 40) .quad 0, 0; .long __output_fifo_data, 0, 3, 8, 0, 0
    HOST(active, 8) .quad 1
    HOST(__input_fifo_data, 64) .space 64
    HOST(__output_fifo_data, 64) .space 64
"""


def test_elements_go_through_binaries_of_the_vendor(sim_cc: Compiler, tmp_path: Path) -> None:
    (tmp_path / "fifo.S").write_text(ASSEMBLY)
    compiler = str(paths.sdk_dir() / "bin" / "dpu-upmem-dpurte-clang")
    binary = str(tmp_path / "fifo")
    made = subprocess.run(
        [compiler, "-DNR_TASKLETS=1", str(tmp_path / "fifo.S"), "-o", binary],
        capture_output=True,
        text=True,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    text = PROGRAM.replace("@DPUS@", "5").replace("@ELEMENTS@", "20")
    result = sim_cc.run(sim_cc.build(text), binary, "no sums")
    assert (result.status, result.err) == (0, "")
    assert result.out.splitlines() == ["running 1, fault 0", "100 elements"]


def test_a_full_fifo_and_one_dpu(host: Host, kernel: Kernel) -> None:
    """Without a launch nothing is taken: four elements have room."""
    api, link = host.api, dpu_fifo_link_t()
    element = ctypes.create_string_buffer(16)
    with host.alloc(2) as made:
        host.ok(api.dpu_load(made, str(kernel(KERNEL, 3)).encode(), None))
        host.ok(api.dpu_link_input_fifo(made, byref(link), b"input_fifo"))
        first = host.dpus(made)[0]
        api.dpu_fifo_set_push_max_retries(byref(link), made, 3)
        for _ in range(4):
            host.ok(api.dpu_fifo_prepare_xfer(first, byref(link), element))
            host.ok(api.dpu_fifo_push_xfer(first, byref(link), 0))
        host.ok(api.dpu_fifo_prepare_xfer(made, byref(link), element))
        assert api.dpu_fifo_push_xfer(made, byref(link), 0) == status("WRAM_FIFO_FULL")
        sizes = [api.get_fifo_size(byref(link), one) for one in host.dpus(made)]
        assert sizes == [4, 0]
        host.ok(api.dpu_fifo_link_free(byref(link)))


def test_a_push_takes_the_time_of_its_transfers(host: Host, kernel: Kernel) -> None:
    """As the SDK does it: positions are read, the element and its position are written."""
    api, link = host.api, dpu_fifo_link_t()
    element = ctypes.create_string_buffer(16)
    cudla_sim.configure(upmem_timing="model")
    with host.alloc(2) as made:
        host.ok(api.dpu_load(made, str(kernel(KERNEL, 3)).encode(), None))
        host.ok(api.dpu_link_input_fifo(made, byref(link), b"input_fifo"))
        host.ok(api.dpu_fifo_prepare_xfer(made, byref(link), element))
        host.ok(api.dpu_fifo_push_xfer(made, byref(link), 0))
        steps = cudla_sim.upmem.hardware.transfers
        assert [(s.kind, s.dpus, s.bytes) for s in steps] == [
            ("from", 2, 32), ("to", 2, 32), ("to", 2, 16),
        ]  # fmt: skip
        assert cudla_sim.upmem.hardware.seconds > 0
        host.ok(api.dpu_fifo_link_free(byref(link)))


WAITING = """
#include <attributes.h>
#include <stdint.h>
__host volatile uint64_t stop, count;
int main(void)
{
    while (!stop)
        count++;
    return 0;
}
"""


def test_callbacks_and_copies_beside_a_launch(host: Host, kernel: Kernel) -> None:
    """Queued in this order: a launch, a parallel callback and copy that end it, a plain copy."""
    api = host.api
    parallel, asynchronous = 8, 1
    one, seen, last = ctypes.c_uint64(1), ctypes.c_uint64(), ctypes.c_uint64()
    order: list[str] = []

    @ctypes.CFUNCTYPE(ctypes.c_int, dpu_set_t, ctypes.c_uint32, ctypes.c_void_p)
    def look(part: dpu_set_t, number: int, _: int) -> int:
        done, fault = ctypes.c_bool(), ctypes.c_bool()
        answer = api.dpu_status(part, byref(done), byref(fault))
        order.append("ended" if done.value else "running")
        while not answer and not seen.value:  # it counts
            dpu = host.dpus(part)[0]
            answer = api.dpu_copy_from(dpu, b"count", 0, byref(seen), 8)
        return int(answer)

    with host.alloc(1) as made:
        host.ok(api.dpu_load(made, str(kernel(WAITING)).encode(), None))
        host.ok(api.dpu_launch(made, 0))
        function = ctypes.cast(look, ctypes.c_void_p)
        host.ok(api.dpu_callback(made, function, None, asynchronous | parallel))
        host.ok(api.dpu_prepare_xfer(made, byref(one)))
        host.ok(api.dpu_push_xfer(made, 0, b"stop", 0, 8, ASYNC | 4))
        host.ok(api.dpu_prepare_xfer(made, byref(last)))
        host.ok(api.dpu_push_xfer(made, FROM_DPU, b"count", 0, 8, ASYNC))
        host.ok(api.dpu_callback(made, function, None, asynchronous))
        host.ok(api.dpu_sync(made))
    assert order == ["running", "ended"]
    assert 0 < seen.value <= last.value


def test_what_is_no_fifo_is_refused(host: Host, kernel: Kernel) -> None:
    api, link = host.api, dpu_fifo_link_t()
    with host.alloc(1) as made:
        assert api.dpu_link_input_fifo(made, byref(link), b"in") == status("NO_PROGRAM_LOADED")
        host.ok(api.dpu_load(made, str(kernel(KERNEL, 3)).encode(), None))
        assert api.dpu_link_input_fifo(made, byref(link), b"sums") == status("UNKNOWN_SYMBOL")
        assert api.dpu_link_input_fifo(made, byref(link), None) == status("UNKNOWN_SYMBOL")
        assert api.dpu_link_input_fifo(made, None, b"input_fifo") == status(
            "INVALID_MEMORY_TRANSFER"
        )
        assert api.dpu_fifo_push_xfer(made, None, 0) == status("INVALID_MEMORY_TRANSFER")
        assert api.dpu_fifo_push_xfer(made, byref(link), 0) == status("INVALID_MEMORY_TRANSFER")
