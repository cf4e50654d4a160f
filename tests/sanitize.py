"""Builds the C of shim/ with sanitizers and runs the tests of C programs on it.

    python -m tests.sanitize                            both, one after the other
    python -m tests.sanitize address [PYTEST ARGUMENTS] AddressSanitizer and UBSan
    python -m tests.sanitize thread  [PYTEST ARGUMENTS] ThreadSanitizer

The sources are copied to build/sanitize/, compiled there, and used by an environment of its own, so
the checkout stays as it is. A report ends the program that caused it with status 86, which no test
expects, and lies in build/sanitize/KIND/reports; the exit status here is that there is one, or that
a test failed. Python, numpy and the programs themselves are not instrumented.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import build_ffi

ROOT = Path(__file__).resolve().parent.parent
FLAGS = {
    "address": "-O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined",
    "thread": "-O1 -g -fsanitize=thread",
}
RUNTIMES = {"address": ("libasan.so", "libubsan.so"), "thread": ("libtsan.so",)}
KERNELS = ("ints", "units", "lut", "cdp", "half", "fp16_units")
TESTS = {
    "address": (
        "tests/abi", "tests/boot", "tests/cudart", "tests/cudla", "tests/nvdla/programs",
        "tests/nvsci", "tests/stress", "tests/cupva/host",
        *(f"tests/nvdla/property/test_nvdla_{name}.py" for name in KERNELS),
    ),
    "thread": (
        "tests/boot", "tests/cudart", "tests/nvdla/programs", "tests/nvsci", "tests/stress",
    ),
}  # fmt: skip
# What these look at is another below a sanitizer: its library is preloaded, freed memory stays, and
# addresses that are nobody's elsewhere are its own.
SKIPPED = (
    "preloaded or empty_environment or only_api_names or another_environment or pythonpath"
    " or flags_name or exits or bad_addresses or test_sample or unsharp_takes or test_soak"
    " or test_bad_input or interpreter_with_python_inside"
)


def build(kind: str) -> Path:
    """The environment's Python, with the package compiled for it."""
    folder = ROOT / "build" / "sanitize" / kind
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    shutil.copytree(ROOT, source, ignore=build_ffi._not_sources)
    python = folder / "env" / "bin" / "python"
    if not python.exists():
        make = [sys.executable, "-m", "venv", "--without-pip", str(folder / "env")]
        subprocess.run(make, check=True)
    (site,) = (folder / "env" / "lib").glob("python*/site-packages")
    packages = sysconfig.get_paths()["purelib"]
    (site / "sanitized.pth").write_text(f"{source / 'pyimpl'}\n{packages}\n")
    words = [str(python), "-c", "import build_ffi; build_ffi.build(editable=True)"]
    environment = {**os.environ, "CFLAGS": FLAGS[kind]}
    subprocess.run(words, cwd=source, env=environment, check=True)
    return python


def environment(kind: str, reports: Path) -> dict[str, str]:
    """What programs and Python run with."""
    found = []
    for name in RUNTIMES[kind]:
        words = ["gcc", f"-print-file-name={name}"]
        path = subprocess.run(words, capture_output=True, text=True, check=True).stdout.strip()
        found.append(str(Path(path).resolve()))
    common = f"exitcode=86:log_path={reports}/report"
    return {
        **os.environ,
        "LD_PRELOAD": " ".join(found),
        "PYTHONMALLOC": "malloc",
        "PYTHONDONTWRITEBYTECODE": "1",
        # Python keeps what it allocates; a device answers "no memory" for sizes no machine has.
        "ASAN_OPTIONS": f"{common}:detect_leaks=0:allocator_may_return_null=1:handle_segv=0"
        ":verify_asan_link_order=0",
        "UBSAN_OPTIONS": f"{common}:print_stacktrace=1:halt_on_error=1",
        "TSAN_OPTIONS": f"{common}:die_after_fork=0:report_thread_leaks=0:report_signal_unsafe=0"
        f":ignore_noninstrumented_modules=1:suppressions={ROOT / 'tests' / 'sanitize_thread.supp'}",
    }


def _is_finding(report: Path) -> bool:
    """A size that no machine has is answered by "no memory", with a word of the sanitizer's."""
    lines = report.read_text(errors="replace").splitlines()
    return any(line and "AddressSanitizer failed to allocate" not in line for line in lines)


def run(kind: str, more: list[str]) -> bool:
    """Whether all is well."""
    python = build(kind)
    reports = ROOT / "build" / "sanitize" / kind / "reports"
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    tests = more or [*TESTS[kind], "-k", f"not ({SKIPPED})"]
    how = ["-n", "auto", "--dist", "worksteal"]
    words = [str(python), "-m", "pytest", "-p", "no:cacheprovider", *how, *tests]
    if kind == "thread":
        words = ["setarch", "-R", *words]  # its shadow memory wants addresses that do not move
    done = subprocess.run(words, cwd=ROOT, env=environment(kind, reports), check=False)
    found = [report for report in sorted(reports.iterdir()) if _is_finding(report)]
    for report in found:
        print(f"--- {report}\n{report.read_text(errors='replace')[:4000]}")
    return done.returncode == 0 and not found


def main() -> int:
    kinds, more = list(FLAGS), sys.argv[1:]
    if more:
        kinds, more = [more[0]], more[1:]
    if not set(kinds) <= set(FLAGS):
        print(__doc__)
        return 2
    well = [run(kind, more) for kind in kinds]  # the second also where the first found something
    return 0 if all(well) else 1


if __name__ == "__main__":
    sys.exit(main())
