"""Where /proc is not mounted, as in a bare chroot: memory is checked and programs start all the
same."""

from __future__ import annotations

import ctypes
import mmap
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cudla_sim.core import own_memory
from cudla_sim.cupva.toolchain.build import compile_image
from tests.conftest import ROOT
from tests.upmem.dpu_side.bench import dpu_cc

INSIDE = """
import sys
sys.path.insert(0, sys.argv[1])
import os
assert not os.path.exists("/proc/self")
from pathlib import Path
from cudla_sim.core.memory import MemoryFault, read_host, readable_size, usable_size
from cudla_sim.nvdla.claim import _lives
import ctypes, threading
data = ctypes.create_string_buffer(b"x" * 10000, 10000)
where = ctypes.addressof(data)
assert read_host(where, 10000) == data.raw
assert readable_size(where) >= 10000 and usable_size(where, 10000) == 10000
assert readable_size(64) == usable_size(64, 8) == 0
try:
    read_host(64, 8)
except MemoryFault:
    pass
else:
    raise SystemExit("address 64 was read")
assert _lives(threading.get_native_id()) and not _lives(1 << 22)
from tests.cupva.device_side.bench import Bench
bench = Bench(Path(sys.argv[2]).read_bytes())
assert bench.launch().value == 7
assert bench.launch(allowed=7).value == 7
bench.close()
from tests.upmem.dpu_side.bench import Bench, Program
bench = Bench(dpus=2)
bench.load(Program(Path(sys.argv[3])))
assert not bench.launch().faulted
bench.close()
print("without /proc")
"""


def test_programs_start(tmp_path: Path) -> None:

    script = tmp_path / "inside.py"
    script.write_text(INSIDE)
    (tmp_path / "kernel.c").write_text(
        "#include <cupva_device.h>\nCUPVA_VPU_MAIN() { return 7; }\n"
    )
    (tmp_path / "vpu").write_bytes(compile_image([tmp_path / "kernel.c"]))
    (tmp_path / "dpu.c").write_text("int main(void) { return 0; }\n")
    made = dpu_cc("-DNR_TASKLETS=1", "-o", tmp_path / "dpu", tmp_path / "dpu.c")
    assert made.returncode == 0, made.stderr
    words = [sys.executable, str(script), str(ROOT), str(tmp_path / "vpu"), str(tmp_path / "dpu")]
    inside = 'umount -l /proc || exit 77; exec "$@"'
    spaces = ["unshare", "--map-root-user", "--mount"] if os.getuid() else ["unshare", "--mount"]
    run = subprocess.run(
        [*spaces, "sh", "-c", inside, "sh", *words], capture_output=True, text=True, check=False
    )
    if run.returncode == 77 or "unshare:" in run.stderr:
        pytest.skip("this system lets nobody unmount /proc in a namespace")
    assert (run.returncode, run.stdout) == (0, "without /proc\n"), run.stderr


def test_own_memory_ends_where_the_mapping_does() -> None:
    pages = mmap.mmap(-1, 8 * mmap.PAGESIZE)
    start = ctypes.addressof(ctypes.c_char.from_buffer(pages))
    libc = ctypes.CDLL(None)
    assert libc.mprotect(ctypes.c_void_p(start + 5 * mmap.PAGESIZE), mmap.PAGESIZE, 0) == 0
    assert own_memory.readable_size(start + 100) == 5 * mmap.PAGESIZE - 100
    assert own_memory.readable_size(start + 100, 300) == 300
    assert own_memory._read(start + 5 * mmap.PAGESIZE - 3, 10) == b"\0" * 3
    assert own_memory.readable_size(start + 5 * mmap.PAGESIZE) == 0
    assert libc.mprotect(ctypes.c_void_p(start), 8 * mmap.PAGESIZE, 3) == 0
