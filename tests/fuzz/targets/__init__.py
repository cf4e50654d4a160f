"""What is fuzzed. A target makes one case from random numbers, and raises when the case is wrong.

Every call must answer a status of its API, every reader a result or the error that it documents,
and no answer may be an internal error: the settings of ``tests.fuzz.run`` make those end the
process, as a crash would.
"""

from __future__ import annotations

from .assembly import asm_statements
from .calibration import calibration_cache, calibration_data
from .calls import calls
from .common import Target
from .dataflows import dataflow
from .documents import document
from .dpu_answers import dpu_answers
from .dpu_workers import dpu_workers
from .models import compiled, in_parts, onnx_bytes, onnx_graph
from .packages import package
from .programs import dpu_program, loadable, vpu_executable
from .settings import settings
from .shared_memory import shared_memory
from .traces import trace
from .vendor_programs import vendor_program

TARGETS: dict[str, Target] = {
    "loadable": loadable,
    "dpu_program": dpu_program,
    "vpu_executable": vpu_executable,
    "dataflow": dataflow,
    "calls": calls,
    "onnx_bytes": onnx_bytes,
    "onnx_graph": onnx_graph,
    "compiled": compiled,
    "in_parts": in_parts,
    "package": package,
    "calibration_cache": calibration_cache,
    "calibration_data": calibration_data,
    "trace": trace,
    "document": document,
    "settings": settings,
    "asm_statements": asm_statements,
    "shared_memory": shared_memory,
    "dpu_answers": dpu_answers,
    "dpu_workers": dpu_workers,
    "vendor_program": vendor_program,
}
