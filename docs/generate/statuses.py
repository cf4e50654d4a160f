"""Status codes with what usually causes them: the explanations that the sources give."""

from __future__ import annotations

import re
from functools import cache
from importlib import import_module
from pathlib import Path

from cudla_sim.families import FAMILIES, Answers, Family

from . import causes
from .tables import code, plain, table

INCLUDE = Path(__file__).resolve().parents[2] / "include"
MOST = 6
"""Causes that are shown of one status."""

_GATE = {
    "unknown": "an error of the simulator that nobody foresaw (a traceback is on stderr), or Python "
    "cannot run (`cudla-sim doctor`)",
    "no_memory": "this machine has no memory or no thread left",
    "bad_handle": "a handle that is NULL, stale, of another kind, or of nobody",
    "bad_memory": "an address that is no memory of the device; the nearest is named",
    "not_supported": "a function that exists and refuses: [the reference](functions/{family}.md) "
    "says why",
}

# What engines and processes of devices end with; tables in the sources turn their words into these.
_ENGINES = {
    "cudlaErrorDlaErrEngineTimeout": "a task took longer than its deadline",
    "cudlaErrorDlaErrNoMem": "the task's program found no memory",
    "cudlaErrorDlaErrInvalidInput": "the firmware refused a task: the explanation says what it "
    "found in which descriptor",
    "cudaErrorLaunchFailure": "asynchronous work in a stream failed; the context stays ruined until "
    "`cudaDeviceReset`",
    "NvSciError_AttrListValidationFailed": "a reconciled list does not give what an unreconciled one "
    "asks for; the explanation names the attribute",
    "NvDlaError_IoctlFailed": "a task failed in the kernel-mode driver or in the engine",
    "NvDlaError_Timeout": "a task that never ends",
    "DPU_ERR_UNKNOWN_SYMBOL": "the program has no such `__host` or `__mram` variable; the explanation "
    "names what was probably meant",
    "DPU_ERR_INVALID_MRAM_ACCESS": "a copy past the end of MRAM, or not in units of 8 bytes",
    "DPU_ERR_INVALID_WRAM_ACCESS": "a copy past the end of WRAM, or not in units of 4 bytes",
    "DPU_ERR_ASYNC_JOBS": "a bit of what `dpu_sync` answers: an asynchronous job failed; the low "
    "bits say with what, the middle ones in which job",
    "CUPVA_OPERATION_PENDING": "the command has not ended yet",
    "CUPVA_INTERNAL_ERROR": "the process of the VPU could not be started or spoken to",
    "CUPVA_VPU_ABORTED": "a kernel called `abort`, or its process died",
    "CUPVA_VPU_FLOATING_POINT_NAN": "an operation of a kernel made a NaN",
    "CUPVA_VPU_DIVIDE_BY_ZERO": "a kernel divided an integer by 0",
    "CUPVA_VPU_ILLEGAL_INSTRUCTION": "a kernel ran into something that is no instruction",
    "CUPVA_VPU_BUFFER_OVERFLOW": "a kernel wrote past a variable in VMEM; the explanation names it",
}


def meanings(family: Family) -> dict[str, str]:
    """What the headers of an API say beside its enumerators."""
    paths = [INCLUDE / family.folder] if family.folder else []
    files = [file for path in paths for file in sorted(path.rglob("*.h"))]
    files += [INCLUDE / header for header in family.headers]
    found: dict[str, str] = {}
    for file in files:
        pairs = re.findall(
            r"^ +(\w+)(?: = \w+)?,? +/\* ([^*]+?) \*/$", file.read_text(), re.MULTILINE
        )
        found.update(pairs)
    return found


def _causes(family: Family, answers: Answers, members: dict[str, int]) -> dict[str, list[str]]:
    """Status -> Markdown of each cause, the most telling first."""
    found = {
        name: [plain(text) for text in texts]
        for name, texts in causes.find(family.name, members).items()
    }
    for name, text in _ENGINES.items():
        if name in members:
            found.setdefault(name, []).insert(0, text)
    for role, text in reversed(_GATE.items()):
        name = getattr(answers, role)
        found.setdefault(name, []).insert(0, text.format(family=family.name))
    return found


def _section(family: Family, answers: Answers) -> list[str]:
    module = import_module(f"cudla_sim.constants.{family.name}")
    kind = getattr(module, answers.enumeration)
    members = {name: int(member) for name, member in kind.__members__.items()}
    first = answers is family.answers[0]
    title = family.title if first else f"{family.title}: {answers.enumeration}"
    said, known = meanings(family), _causes(family, answers, members)
    rows, others = [], []
    for name, value in members.items():
        found = known.get(name, [])
        meaning = f"*{plain(said[name])}*" if name in said else ""
        if value == 0:
            found = ["success"]
        if not found:
            others.append(name)
            continue
        more = [f"and {len(found) - MOST} more"] if len(found) > MOST else []
        text = "<br>".join(filter(None, [meaning, *found[:MOST], *more]))
        rows.append((code(name), str(value), text))
    lines = [f"## {title}", "", *table(("status", "value", "typical causes"), rows), ""]
    if others:
        lines += [
            "Only by an [injected fault](../tools/faults.md), or from code of the program's own that "
            f"a call passes on: {', '.join(map(code, others))}.",
            "",
        ]
    return lines


@cache
def page() -> str:
    """The page."""
    lines = [
        "# Status codes",
        "",
        "What usually causes each, in the words of the explanations (`...` stands for values). "
        "`CUDLA_SIM_EXPLAIN=1` prints the explanation of each failing call, with the values: "
        "[why a call failed](../tools/explain.md).",
        "",
    ]
    for family in FAMILIES:
        for answers in family.answers:
            lines += _section(family, answers)
    return "\n".join(lines)
