"""PrIM's programs as a whole, against the least that a libdpu can do.

The same host program runs here and with ``plain_dpu/libdpu.c``, in turn. That copies the same bytes
into fresh shared memory and runs the kernels as plain C threads; programs with a race fail there.
PRIM_BENCHMARKS names a clone of CMU-SAFARI/prim-benchmarks.
"""

from __future__ import annotations

import os
import shlex
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path
from time import perf_counter

from cudla_sim import flags, paths

from .report import Figure

PLAIN = Path(__file__).with_name("plain_dpu")
DPUS, TASKLETS, RUNS, PATIENCE_S = 64, 16, 5, 60
ARGUMENTS = {
    "VA": "-i 10485760 -x 1",
    "GEMV": "-m 8192 -n 8192",
    "SEL": "-i 3932160 -x 1",
    "UNI": "-i 3932160 -x 1",
    "BS": "-i 262144",
    "MLP": "-m 1024 -n 1024",
    "NW": "-n 2560",
    "HST-S": "-i 6291456 -x 1",
    "HST-L": "-i 6291456 -x 1",
    "RED": "-i 6553600 -x 1",
    "SCAN-SSA": "-i 3932160 -x 1",
    "SCAN-RSS": "-i 3932160 -x 1",
    "TRNS": "-m 16 -n 8 -o 4096 -p 64 -x 1",
}


def compiler_words(printed: str) -> list[str]:
    """The arguments of the DPU compiler in what make printed."""
    line = next(text for text in printed.splitlines() if "dpu-upmem-dpurte-clang" in text)
    return shlex.split(line[line.index("dpu-upmem-dpurte-clang") :])[1:]


def build(folder: Path, plain: Path, environment: dict[str, str]) -> Path:
    """The host program; its kernel is compiled for both."""
    (folder / "bin").mkdir(exist_ok=True)
    made = subprocess.run(
        ["make", f"NR_DPUS={DPUS}", f"NR_TASKLETS={TASKLETS}"],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    words = compiler_words(made.stdout)
    at = words.index("-o")
    kernel, sources = folder / words[at + 1], [word for word in words if word.endswith(".c")]
    kept = [w for w in words[:at] if not w.endswith(".c")]
    common = ["gcc", "-O2", "-w", "-no-pie", "-I", str(PLAIN / "include"), *kept]
    objects = [str(plain / f"{Path(source).stem}.o") for source in sources]
    for source, output in zip(sources, objects, strict=True):
        renamed = ["-Dmain=kernel_main", "-include", str(PLAIN / "include" / "defs.h")]
        subprocess.run([*common, *renamed, "-c", source, "-o", output], cwd=folder, check=True)
    target = f"{kernel}.plain"
    subprocess.run(
        [
            *common,
            str(PLAIN / "runtime.c"),
            *objects,
            "-Wl,-Ttext-segment=0x20000000",
            "-lpthread",
            "-o",
            target,
        ],
        cwd=folder,
        check=True,
    )
    symbols = subprocess.run(["nm", target], check=True, capture_output=True, text=True).stdout
    Path(f"{target}.symbols").write_text(symbols)
    return next(f for f in (folder / "bin").iterdir() if "host" in f.name)


def seconds(host: Path, arguments: str, environment: dict[str, str]) -> float | None:
    """None: it did not end well, or not in time."""
    words = [f"bin/{host.name}", "-w", "0", "-e", "1", *arguments.split()]
    begin = perf_counter()
    try:
        done = subprocess.run(
            words,
            cwd=host.parent.parent,
            env=environment,
            capture_output=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return None
    took = perf_counter() - begin
    return took if done.returncode == 0 and b"differ" not in done.stdout else None


def ratio(host: Path, arguments: str, ours: dict[str, str], plain: dict[str, str]) -> Figure:
    pairs = []
    for _ in range(RUNS + 1):
        pairs.append((seconds(host, arguments, ours), seconds(host, arguments, plain)))
        if None in pairs[-1]:
            break
    name = f"{host.parent.parent.name}, wall time / plain C threads"
    here, there = pairs[-1]
    if here is None or there is None:
        who = "this library" if here is None else "the plain library"
        return Figure(name, float("nan"), "", None, "lower", f"{who} gave no right answer")
    ratios = [a / b for a, b in pairs[1:] if a is not None and b is not None]
    remark = f"{statistics.median(b for _, b in pairs[1:] if b is not None) * 1e3:.0f} ms there"
    return Figure(name, statistics.median(ratios), "", 1.5, "lower", remark)


def figures() -> list[Figure]:
    prim = os.environ.get("PRIM_BENCHMARKS")
    if not prim:
        return []
    search = flags.environment(cuda=False)
    ours = {**os.environ, **search}
    found = []
    with tempfile.TemporaryDirectory() as work:
        library = Path(work) / "plain" / "libdpu.so.2025.1"
        library.parent.mkdir()
        include = paths.include_dir() / "upmem"
        subprocess.run(
            [
                "gcc",
                "-O2",
                "-shared",
                "-fPIC",
                f"-I{include}",
                str(PLAIN / "libdpu.c"),
                "-o",
                str(library),
            ],
            check=True,
        )
        plain = {**ours, "LD_LIBRARY_PATH": str(library.parent)}
        for name, arguments in ARGUMENTS.items():
            source = Path(prim) / name
            if source.is_dir():
                folder = Path(work) / name
                shutil.copytree(source, folder, ignore=shutil.ignore_patterns("bin", "data"))
                host = build(folder, library.parent, ours)
                found.append(ratio(host, arguments, ours, plain))
    return found
