"""Words of settings stand for numbers of C, and what is sent fits."""

from __future__ import annotations

import numpy as np
import pytest

from cudla_sim.constants.pva_protocol import Watching, pva_descriptor, pva_request
from cudla_sim.cupva.dma import descriptor_type
from cudla_sim.cupva.workers.protocol import DELIVERY, FlowRequest
from cudla_sim.workers.structures import filled
from cudla_sim.workers.switches import MODES


def test_words() -> None:
    assert DELIVERY == ("trigger", "sync", "random")
    assert {mode: number for number, mode in enumerate(MODES)} == {
        "off": Watching.OFF,
        "warn": Watching.REPORT,
        "fault": Watching.FAULT,
    }


def test_descriptors_have_no_gaps() -> None:
    kind = descriptor_type()
    assert kind.names == tuple(name for name, *_ in pva_descriptor._fields_)
    assert kind.itemsize == np.zeros(1, kind).nbytes == 280


def test_what_a_dataflow_tells() -> None:
    none = np.zeros(0, descriptor_type())
    found = FlowRequest(1, 0, none, {"line_pitch": 64, "niter_hw": 3, "bpp_log2": 2}).described()
    assert (found.linePitch, found.niterHW, found.bppLog2, found.bpp) == (64, 3, 2, 4)
    assert (found.flow, found.layout, found.reads) == (0, 0, 0)
    with pytest.raises(ValueError, match="unknown device information: pitch"):
        FlowRequest(1, 0, none, {"pitch": 64}).described()


def test_numbers_are_not_cut_off() -> None:
    with pytest.raises(OverflowError, match=r"pva_request\.delivery cannot hold 65536"):
        filled(pva_request, delivery=1 << 16)
    with pytest.raises(AttributeError):
        filled(pva_request, deliveries=1)
