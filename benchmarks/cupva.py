"""cuPVA from C++: tiles through VMEM against memcpy in the same process, an empty program, and
kernels of vectors against plain loops."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

from cudla_sim.testing import Compiler

from .report import Figure

HERE = Path(__file__).resolve().parent
RUNS = 3
KERNELS = ("EMPTY", "RASTER", "TENSOR")


def _kernel(name: str, folder: Path) -> str:
    """The object with one kernel of cupva_dev.c."""
    target = folder / f"{name.lower()}.o"
    compiler = [sys.executable, "-m", "cudla_sim.cupva.toolchain", "-O2", f"-D{name}"]
    source = str(HERE / "cupva_dev.c")
    names = ["--name", name.lower(), "-o", str(target)]
    subprocess.run([*compiler, *names, source], check=True)
    return str(target)


LOOPS = {
    "dvmaddh": "5x5 filter, dvmaddh",
    "operators": "5x5 filter, operators",
    "box": "5x5 box filter",
    "neighbours": "3x3 neighbours: dvabsdif, <, dvmax, dvmux",
    "difference": "dvabsdif of two u8 pictures",
}
"""What ``cupva_kernels_dev.c`` prints."""


def _plain(folder: Path) -> str:
    """The plain loops."""
    target = folder / "plain.o"
    words = ["g++", "-O3", "-march=native", "-c", str(HERE / "cupva_plain.cpp"), "-o", str(target)]
    subprocess.run(words, check=True)
    return str(target)


def _loops(folder: Path) -> str:
    target = folder / "kernels.o"
    compiler = [sys.executable, "-m", "cudla_sim.cupva.toolchain", "--name", "kernels"]
    sources = [str(HERE / "cupva_kernels_dev.c"), _plain(folder)]
    subprocess.run([*compiler, "-o", str(target), *sources], check=True)
    return str(target)


def _read(text: str) -> dict[str, float]:
    """The least share, or the time, by name; of kernels the time and that of the plain loop."""
    found = {}
    for name, *values in (line.split() for line in text.splitlines()):
        found[name] = float(values[0])
        if len(values) > 1:
            found[f"{name} plain"] = float(values[1])
    return found


def _compilations(folder: Path) -> list[Figure]:
    """CPU seconds of pva-cc for kernels that exist, the least of four: headers are precompiled."""
    sources = {
        "without vectors (unsharp_dev.c)": HERE.parent / "c_examples/cupva/unsharp_dev.c",
        "of vectors (convolution_dev.c)": HERE.parent / "c_examples/cupva/convolution_dev.c",
        "all operators, all types (lanes.c)": HERE.parent
        / "tests/cupva/device_side/kernels/lanes.c",
    }
    found = []
    for what, source in sources.items():
        words = [sys.executable, "-m", "cudla_sim.cupva.toolchain", "--name", "kernel"]
        times = []
        for _ in range(4):
            begin = _spent()
            subprocess.run([*words, "-o", str(folder / "kernel.o"), str(source)], check=True)
            times.append(_spent() - begin)
        found.append(
            Figure(f"compiling a VPU kernel {what}", min(times), "s", 0.4, remark="CPU time")
        )
    return found


def _spent() -> float:
    """CPU seconds of all programs that ended."""
    used = getrusage(RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def figures() -> list[Figure]:
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(Path(folder))
        compilations = _compilations(Path(folder))
        objects = [_kernel(name, Path(folder)) for name in KERNELS]
        objects.append(_loops(Path(folder)))
        program = compiler.build(HERE / "cupva_host.cpp", options=["-O2", *objects])
        runs = []
        for _ in range(RUNS):
            result = compiler.run(program, timeout_s=300)
            if result.status:
                raise SystemExit(f"benchmarks/cupva_host.cpp: {result.out}{result.err}")
            runs.append(_read(result.out))
    median = {name: statistics.median(r[name] for r in runs) for name in runs[0]}
    reference = "memcpy of the bytes moved"
    raster = "1920x1080 u8, 64x32 tiles, halo 2, in and out"
    tensor = "256x256x64 u8, 32x32x16 tiles, halo 1, in and out"
    bounds = f"call {median['call_us']:.2f} us, pipe there and back {median['pipe_us']:.1f} us"
    loops = [
        Figure(
            f"1920x1080, {what}",
            median[name] / median[f"{name} plain"],
            "x plain loop",
            1.5,
            remark=f"{median[name] / 1e3:.2f} ms a frame; loop: g++ -O3 -march=native",
        )
        for name, what in LOOPS.items()
    ]
    return [
        Figure(raster, median["raster"], "of memcpy", 0.6, "higher", reference),
        Figure(tensor, median["tensor"], "of memcpy", 0.4, "higher", reference),
        Figure(
            "submit and wait of an empty VPU program", median["empty_us"], "us", 30, "lower", bounds
        ),
        *loops,
        *compilations,
    ]
