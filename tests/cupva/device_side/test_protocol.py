"""protocol.py and dma.descriptor_type are what the C structures of shim/vpu_run are."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from cudla_sim.cupva.dma import descriptor_type
from cudla_sim.cupva.executable import Kind
from cudla_sim.cupva.toolchain.runtime import headers, sources
from cudla_sim.cupva.workers import protocol as p
from cudla_sim.workers.switches import MODES

PROGRAM = r"""
#include <stddef.h>
#include <stdio.h>
#include "dma.h"
#include "gate.h"
#include "protocol.h"
#define SHOW(e) printf("%s %lld\n", #e, (long long)(e));
int main(void)
{
    SHOW(PVA_PROTOCOL_VERSION) SHOW(PVA_GATE_AT) SHOW(PVA_REQUEST_AT)
    SHOW(PVA_LISTS_AT) SHOW(PVA_CONTROL_SIZE)
    SHOW(PVA_VMEM_WINDOW) SHOW(PVA_BANK_STRIDE) SHOW(PVA_VMEM_SIZE) SHOW(PVA_MAX_FLOWS)
    SHOW(sizeof(struct pva_reply)) SHOW(sizeof(struct pva_request))
    SHOW(sizeof(struct pva_parameter)) SHOW(sizeof(struct pva_flow_request))
    SHOW(sizeof(cupvaFlowInfo)) SHOW(sizeof(struct pva_descriptor))
    SHOW(offsetof(struct pva_descriptor, src)) SHOW(offsetof(struct pva_descriptor, dst))
    SHOW(offsetof(struct pva_descriptor, copy_at)) SHOW(offsetof(struct pva_reply, flows))
    SHOW(PVA_DONE) SHOW(PVA_FAULT) SHOW(PVA_DMA_TIMEOUT) SHOW(PVA_UNFINISHED) SHOW(PVA_INTERRUPTED)
    SHOW(PVA_CAUSE_MEMORY) SHOW(PVA_CAUSE_OVERRUN) SHOW(PVA_CAUSE_SYNC) SHOW(PVA_CAUSE_ORDER)
    SHOW(PVA_CAUSE_UNFINISHED) SHOW(PVA_KIND_TENSOR) SHOW(PVA_KIND_CONFIG)
    SHOW(PVA_KIND_RASTER_UNIFIED) SHOW(PVA_CAUSE_PENDING) SHOW(PVA_CAUSE_REMARKS)
    SHOW(PVA_AT_TRIGGER) SHOW(PVA_AT_SYNC) SHOW(PVA_AT_RANDOM)
    SHOW(PVA_WATCH_OFF) SHOW(PVA_WATCH_REPORT) SHOW(PVA_WATCH_FAULT)
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="no gcc")
def test_mirror(tmp_path: Path) -> None:
    (tmp_path / "show.c").write_text(PROGRAM)
    command = ["gcc", f"-I{sources()}", f"-I{headers()}", "show.c", "-o", "show"]
    subprocess.run(command, cwd=tmp_path, check=True)
    text = subprocess.run([tmp_path / "show"], capture_output=True, text=True, check=True).stdout
    values = {name: int(value) for name, _, value in (s.rpartition(" ") for s in text.splitlines())}
    descriptor = descriptor_type()
    fields = descriptor.fields
    assert fields is not None
    assert values == {
        "PVA_PROTOCOL_VERSION": p.PROTOCOL_VERSION,
        "PVA_GATE_AT": p.GATE_AT,
        "PVA_REQUEST_AT": p.REQUEST_AT,
        "PVA_LISTS_AT": p.LISTS_AT,
        "PVA_CONTROL_SIZE": p.CONTROL_SIZE,
        "PVA_VMEM_WINDOW": p.VMEM_WINDOW,
        "PVA_BANK_STRIDE": p.BANK_STRIDE,
        "PVA_VMEM_SIZE": p.VMEM_SIZE,
        "PVA_MAX_FLOWS": p.MAX_FLOWS,
        "sizeof(struct pva_reply)": p.REPLY_SIZE,
        "sizeof(struct pva_request)": p.REQUEST.size,
        "sizeof(struct pva_parameter)": p.PARAMETER.size,
        "sizeof(struct pva_flow_request)": p.FLOW.size + p.INFO.size,
        "sizeof(cupvaFlowInfo)": p.INFO.size,
        "sizeof(struct pva_descriptor)": descriptor.itemsize,
        "offsetof(struct pva_descriptor, src)": fields["src"][1],
        "offsetof(struct pva_descriptor, dst)": fields["dst"][1],
        "offsetof(struct pva_descriptor, copy_at)": fields["copy_at"][1],
        "offsetof(struct pva_reply, flows)": p.FLOWS_AT,
        "PVA_DONE": p.Status.DONE,
        "PVA_FAULT": p.Status.FAULT,
        "PVA_DMA_TIMEOUT": p.Status.DMA_TIMEOUT,
        "PVA_UNFINISHED": p.Status.UNFINISHED,
        "PVA_INTERRUPTED": p.Status.INTERRUPTED,
        "PVA_CAUSE_MEMORY": p.Cause.MEMORY,
        "PVA_CAUSE_OVERRUN": p.Cause.OVERRUN,
        "PVA_CAUSE_SYNC": p.Cause.SYNC,
        "PVA_CAUSE_ORDER": p.Cause.ORDER,
        "PVA_CAUSE_UNFINISHED": p.Cause.UNFINISHED,
        "PVA_KIND_TENSOR": Kind.TENSOR,
        "PVA_KIND_CONFIG": Kind.CONFIG,
        "PVA_KIND_RASTER_UNIFIED": Kind.RASTER_UNIFIED,
        "PVA_CAUSE_PENDING": p.Cause.PENDING,
        "PVA_CAUSE_REMARKS": p.Cause.REMARKS,
        "PVA_AT_TRIGGER": p.DELIVERY.index("trigger"),
        "PVA_AT_SYNC": p.DELIVERY.index("sync"),
        "PVA_AT_RANDOM": p.DELIVERY.index("random"),
        "PVA_WATCH_OFF": MODES.index("off"),
        "PVA_WATCH_REPORT": MODES.index("warn"),
        "PVA_WATCH_FAULT": MODES.index("fault"),
    }
