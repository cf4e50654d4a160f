"""The settings, from the class that reads them."""

from __future__ import annotations

import ast
import dataclasses
import inspect

from cudla_sim.core import config
from cudla_sim.core.config import PREFIX, Config

from .tables import code, table

_HEAD = """# Settings

Variables of the environment, keys of the TOML file that `CUDLA_SIM_CONFIG_FILE` names (in lower case,
without the prefix), or arguments of `cudla_sim.configure`. The environment wins over the file. An
unknown name or value is an error with a hint, at the first call; `cudla-sim run` and
`cudla-sim doctor` say it before.

"""
_TAIL = """

Read before these, or by others:

| variable | meaning |
|---|---|
| `CUDLA_SIM_PYTHON` | the interpreter to start, when it is not to be the one that is found by itself |
| `CUPVA_DMATIMEOUT` | seconds that a dataflow waits for its trigger (60), as cuPVA's messages name it |
| `UPMEM_PROFILE` | a profile of `dpu_alloc`, as UPMEM's library reads it |
| `DPU_COMPILER_ROUTE` | how DPU programs are compiled: `clang-x32`, `gcc-x32`, `clang-m64`, `gcc-m64` |
| `NO_COLOR` | no colours on terminals |
"""


def meanings() -> dict[str, str]:
    """Field -> the text below it in the source."""
    (node,) = ast.parse(inspect.getsource(Config)).body
    assert isinstance(node, ast.ClassDef)
    found, last = {}, ""
    for item in node.body:
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
            last = item.target.id
        elif isinstance(item, ast.Expr) and isinstance(item.value, ast.Constant) and last:
            found[last] = str(item.value.value).replace("``", "`")
            last = ""
    found["config"] = found["config"].replace(
        "one of `NVDLA_CONFIGS`", "one of " + ", ".join(f"`{c}`" for c in config.NVDLA_CONFIGS)
    )
    return found


def _default(field: dataclasses.Field[object]) -> str:
    value = field.default
    return code(str(int(value) if isinstance(value, bool) else value)) if value != "" else ""


def page() -> str:
    """The page."""
    known = meanings()
    rows = [
        (code(PREFIX + f.name.upper()), _default(f), known[f.name])
        for f in dataclasses.fields(Config)
    ]
    return _HEAD + "\n".join(table(("variable", "default", "meaning"), rows)) + _TAIL
