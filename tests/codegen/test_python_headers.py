"""Python's C headers for cross compilers."""

from __future__ import annotations

import subprocess
import sysconfig
from pathlib import Path

import pytest

from codegen import python_headers
from codegen.objects import run

WRAPPER = """
#if defined(__x86_64__)
# include <x86_64-linux-gnu/python3.99/pyconfig.h>
#elif defined(__aarch64__)
# include <aarch64-linux-gnu/python3.99/pyconfig.h>
#endif
"""


@pytest.fixture
def debian(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A Python whose pyconfig.h is Debian's, with the real one in the folder of this machine."""
    include = tmp_path / "usr" / "include"
    (include / "python3.99").mkdir(parents=True)
    (include / "python3.99" / "pyconfig.h").write_text(WRAPPER)
    (include / "x86_64-linux-gnu" / "python3.99").mkdir(parents=True)
    real = include / "x86_64-linux-gnu" / "python3.99" / "pyconfig.h"
    real.write_text("#define SIZEOF_VOID_P 8\n")
    monkeypatch.setattr(sysconfig, "get_paths", lambda: {"include": str(include / "python3.99")})
    monkeypatch.setattr(sysconfig, "get_config_var", lambda name: "x86_64-linux-gnu")
    return tmp_path


@pytest.mark.parametrize("machine", ["__x86_64__", "__aarch64__"])
def test_debian_pyconfig_is_found_for_each_architecture(debian: Path, machine: str) -> None:
    options = python_headers.include_options(debian / "scratch")
    text = f"#undef __x86_64__\n#define {machine} 1\n#include <pyconfig.h>\nSIZEOF_VOID_P\n"
    command = ["gcc", "-E", "-P", "-xc", "-", *options]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["8"]


def test_failed_compilation_reports_its_first_errors(tmp_path: Path) -> None:
    source = tmp_path / "wrong.c"
    source.write_text("".join(f"int f{n}(void) {{ return wrong{n}; }}\n" for n in range(1000)))
    with pytest.raises(SystemExit) as failure:
        run(["gcc", "-c", str(source), "-o", str(tmp_path / "wrong.o")])
    lines = str(failure.value).splitlines()
    assert len(lines) < 30
    assert "wrong0" in "".join(lines[:5])
