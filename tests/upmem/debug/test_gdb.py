"""The remote protocol of gdb, spoken by a client that knows little of it."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import threading
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests import warm

from .programs import AGAIN, ENDLESS, SUMS, TOTAL, elf, model

pytestmark = pytest.mark.slow

IRAM, MRAM = 0x8000_0000, 0x0800_0000
_PC, _FLAGS = 24, 25


HOST = """
import sys
from dpu import DpuSet
with DpuSet(nr_dpus=2, binary=sys.argv[1]) as dpus:
    for _ in range(2):
        dpus.exec()
        back = [bytearray(4), bytearray(4)]
        dpus.copy(back, "shared")
        print([int.from_bytes(b, "little") for b in back])
"""


class Client:
    """Packets with acknowledgements, one answer for each question."""

    def __init__(self, port: int) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=20)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as gdb does
        self.data = b""

    def send(self, text: str) -> None:
        payload = text.encode()
        self.socket.sendall(b"$%b#%02x" % (payload, sum(payload) & 255))

    def answer(self) -> str:
        while True:
            found = re.search(rb"\$([^#]*)#([0-9a-f]{2})", self.data)
            if found:
                break
            more = self.socket.recv(4096)
            assert more, "closed"
            self.data += more
        payload, said = found.group(1), int(found.group(2), 16)
        assert sum(payload) & 255 == said
        self.data = self.data[found.end() :]
        self.socket.sendall(b"+")
        plain = re.sub(rb"}(.)", lambda m: bytes([m.group(1)[0] ^ 0x20]), payload)
        return plain.decode()

    def __call__(self, text: str) -> str:
        self.send(text)
        return self.answer()

    def registers(self, thread: int) -> list[int]:
        assert self(f"Hg{thread:x}") == "OK"
        data = bytes.fromhex(self("g"))
        return [int.from_bytes(data[i : i + 4], "little") for i in range(0, len(data), 4)]

    def word(self, address: int) -> int:
        return int.from_bytes(bytes.fromhex(self(f"m{address:x},4")), "little")


@contextmanager
def server(tmp_path: Path, text: str, tasklets: int = 1) -> Iterator[tuple[Client, list[str]]]:
    """The client, and what the command said when it has ended: exit status and standard error."""
    program = tmp_path / "task"
    program.write_bytes(elf(text, tasklets).image())
    command = [warm.command(), "dpu", "gdbserver", str(program)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said: list[str] = []
        try:
            port = re.search(r"localhost:(\d+)", process.stderr.readline())
            assert port
            client = Client(int(port.group(1)))
            yield client, said
            client.socket.close()
            process.wait(20)
        finally:
            process.kill()
        said += [str(process.returncode), process.stderr.read()]


def at(index: int) -> int:
    return IRAM + 8 * index


def test_what_it_can_do(tmp_path: Path) -> None:
    with server(tmp_path, SUMS, 4) as (gdb, _):
        features = gdb("qSupported:swbreak+;multiprocess+;xmlRegisters=i386").split(";")
        assert "qXfer:features:read+" in features
        text = ""
        while not text.endswith("</target>"):
            piece = gdb(f"qXfer:features:read:target.xml:{len(text):x},100")
            assert piece[0] == ("l" if piece.endswith("</target>") else "m")
            text += piece[1:]
        names = [reg.get("name") for reg in ElementTree.fromstring(text).iter("reg")]
        assert names == [*(f"r{n}" for n in range(24)), "pc", "flags"]
        assert gdb("?").startswith("T05thread:1;")
        assert gdb("vCont?") == "vCont;c;C;s;S"
        assert gdb("vMustReplyEmpty") == ""
        assert gdb("qC") == "QC1"
        assert gdb("qfThreadInfo") == "m1"
        assert gdb("qsThreadInfo") == "l"
        assert (gdb("T1"), gdb("T4")) == ("OK", "E01")
        assert bytes.fromhex(gdb("qThreadExtraInfo,1")) == b"tasklet 0, runs"
        assert "generic:pc;" in gdb(f"qRegisterInfo{_PC:x}")
        assert gdb(f"qRegisterInfo{_FLAGS + 1:x}") == "E45"
        assert "ptrsize:4;endian:little;" in gdb("qHostInfo")
        assert gdb("qMemoryRegionInfo:8000100") == "start:8000000;size:4000000;permissions:rwx;"
        assert gdb("jThreadsInfo") == '[{"tid": 1, "reason": "trace"}]'
        assert gdb("QStartNoAckMode") == "OK"


def test_monitor_shows_what_gdb_cannot(tmp_path: Path) -> None:
    def monitor(words: str) -> str:
        return bytes.fromhex(gdb(f"qRcmd,{words.encode().hex()}")).decode()

    with server(tmp_path, SUMS, 4) as (gdb, _):
        for _ in range(3):
            gdb("s")
        assert "0 runs        80000018 main+3" in monitor("tasklets")
        assert "move r0, 50" in monitor("tasklets")
        assert "r1 00000001" in monitor("registers 0")
        assert "r1 00000000" in monitor("registers 1")
        assert monitor("registers 24") == "there is no tasklet 24\n"
        assert int(monitor("cycles")) >= 3 * 11
        assert "monitor cycles" in monitor("help")
        assert gdb("qRcmd," + b"registers x".hex()) == "E01"


def test_steps_are_those_of_the_model(tmp_path: Path) -> None:
    expected = model(SUMS)
    with server(tmp_path, SUMS, 4) as (gdb, _):
        first = expected.tasklets[0]
        for count in range(20):
            assert gdb("vCont;s:1" if count % 2 else "s").startswith("T05thread:1;")
            expected.step(first)
            found = gdb.registers(1)
            assert found[:24] == first.registers
            assert (found[_PC], found[_FLAGS] >> 1) == (at(first.pc), first.c)
        assert gdb("qfThreadInfo") == "m1,2"
        other = expected.tasklets[1]
        for _ in range(5):
            assert gdb("vCont;s:2").startswith("T05thread:2;")
            expected.step(other)
            assert gdb.registers(2)[:24] == other.registers
        assert gdb.registers(1)[:24] == first.registers


def test_breakpoints_of_all_tasklets(tmp_path: Path) -> None:
    hit = set()
    with server(tmp_path, SUMS, 4) as (gdb, said):
        word = gdb(f"m{at(AGAIN):x},8")
        assert gdb(f"Z0,{at(AGAIN):x},8") == "OK"
        for _ in range(8):
            stopped = re.fullmatch(r"T05thread:(\d);reason:breakpoint;", gdb("vCont;c"))
            assert stopped
            hit.add(int(stopped.group(1)))
            assert gdb.registers(int(stopped.group(1)))[_PC] == at(AGAIN)
            assert gdb(f"m{at(AGAIN):x},8") == word
        assert gdb(f"z0,{at(AGAIN):x},8") == "OK"
        assert gdb(f"Z0,{at(16):x},8") == "OK"  # stop
        assert gdb("c").startswith("T05")
        assert gdb(f"z0,{at(16):x},8") == "OK"
        assert gdb("c") == "W00"
    assert hit == {1, 2, 3, 4}
    assert said[0] == "0"


def test_a_step_lets_the_others_go_on(tmp_path: Path) -> None:
    with server(tmp_path, SUMS, 4) as (gdb, _):
        assert gdb(f"Z0,{at(AGAIN):x},8") == "OK"
        assert gdb("c").startswith("T05thread:1;")
        assert gdb(f"z0,{at(AGAIN):x},8") == "OK"
        before = gdb.registers(1)
        for _ in range(39):
            assert gdb("vCont;s:1;c").startswith("T05thread:1;")
        after = gdb.registers(1)
        assert after[2] >= before[2] + 2
        assert gdb.registers(2)[0] < 50
        assert gdb("D") == "OK"


def test_memories_and_registers_are_written(tmp_path: Path) -> None:
    text = "ldma r1, r2, 0\n lw r3, r1, 0\n add r3, r3, r4\n sw r1, 4, r3\n stop\n"
    with server(tmp_path, text) as (gdb, said):
        assert gdb(f"M{MRAM + 0x100:x},8:0a00000000000000") == "OK"
        assert gdb("P1=00010000") == "OK"  # r1 = 0x100
        assert gdb("P2=00010008") == "OK"
        values = gdb.registers(1)
        values[4], values[_FLAGS] = 32, 3
        assert gdb("G" + "".join(v.to_bytes(4, "little").hex() for v in values)) == "OK"
        assert gdb("p4") == "20000000"
        assert gdb(f"p{_FLAGS:x}") == "03000000"
        for _ in range(4):
            gdb("s")
        assert gdb.word(0x104) == 42
        assert gdb(f"P{_PC:x}=01000080") == "E01"
        assert gdb(f"P{_PC:x}={at(0).to_bytes(4, 'little').hex()}") == "OK"
        assert gdb.registers(1)[_PC] == at(0)
        assert gdb("mfffe,8") == gdb("mfffe,2") == "0000"
        assert gdb("m10000,4") == "E0e"
        assert gdb("Mfffe,4:00000000") == "E0e"
        assert gdb("Z0,100,8") == "E01"
        assert gdb("Z5,100,4") == ""
        assert gdb("mxyz") == "E01"
        gdb.send("k")
    assert said[0] == "1"
    assert "the debugger killed it" in said[1]


WRONG = (
    *("p-1", "p1a", "p", "P-1=00000000", "P1", "Pxy=0", "Gxy", "m", "m0", "m-8,4", "m0,-4", "mg,1"),
    *("M0,4", "M0,4:00", "M0,-1:00", "Z0", "Z0,80000004,8", "z0,8,8", "Hg20", "T", "T20", "Txx"),
    *(
        "vCont;s:20",
        "vCont;s:zz",
        "szz",
        "qRcmd,zz",
        "qRcmd,ff",
        "qRegisterInfo",
        "qThreadExtraInfo,zz",
    ),
    *("qXfer:features:read:target.xml:0", "qMemoryRegionInfo:x", "Z3", "Z4,0"),
)
UNKNOWN = ("", "!", "X0,1:a", "vRun;", "qTStatus", "QNonStop:1", "jOther", "Z5,0,4", "\\")


def test_what_it_does_not_understand(tmp_path: Path) -> None:
    with server(tmp_path, SUMS, 4) as (gdb, said):
        for packet in WRONG:
            assert gdb(packet) in ("E01", "E0e"), packet
        for packet in UNKNOWN:
            assert gdb(packet) == "", packet
        gdb.socket.sendall(b"noise$?#00")  # a wrong checksum is asked for again
        assert gdb.socket.recv(1) == b"-"
        assert gdb("?").startswith("T05thread:1;")
        assert gdb("c") == "W00"
    assert said[0] == "0"


def test_an_endless_loop_is_interrupted(tmp_path: Path) -> None:
    with server(tmp_path, ENDLESS) as (gdb, _):
        seen, went_on = 0, 0
        for _ in range(100):  # on a busy machine it may not have begun yet
            gdb.send("c")
            threading.Event().wait(0.05)
            gdb.socket.sendall(b"\3")
            assert gdb.answer() == "T02thread:1;reason:signal;"
            found = gdb.registers(1)
            assert found[0] >= seen
            assert found[_PC] in (at(0), at(1))
            went_on += found[0] > seen
            seen = found[0]
            if went_on == 2:
                break
        assert went_on == 2
        gdb.send("k")


def test_an_interrupt_that_comes_with_the_packet_before_it(tmp_path: Path) -> None:
    """On a busy machine both are read at once."""
    with server(tmp_path, ENDLESS) as (gdb, _):
        gdb.socket.sendall(b"$c#63\3")
        assert gdb.answer() == "T02thread:1;reason:signal;"
        gdb.send("k")


@pytest.mark.parametrize(
    ("text", "signal", "said"),
    [
        ("move r0, 1\n lw r1, r0, 0\n", "0b", "memory fault"),
        ("fault 2\n", "08", "division by zero"),
        ("fault 3\n", "06", "an assertion"),
        ("jump 4000\n", "04", "no instruction was loaded"),
    ],
)
def test_faults_are_signals(tmp_path: Path, text: str, signal: str, said: str) -> None:
    with server(tmp_path, text) as (gdb, ended):
        assert gdb("c") == f"T{signal}thread:1;reason:exception;"
        assert gdb("D") == "OK"
    assert ended[0] == "1"
    assert said in ended[1]


def test_the_programs_own_breakpoint_is_passed(tmp_path: Path) -> None:
    with server(tmp_path, "bkp\n move r0, 7\n bkp\n sw zero, 256, r0\n stop\n") as (gdb, said):
        assert gdb("c") == "T05thread:1;reason:breakpoint;"
        assert gdb("c") == "T05thread:1;reason:breakpoint;"
        assert gdb.registers(1)[_PC] == at(2)
        assert gdb("c") == "W07"
    assert said[0] == "0"


def test_a_debugger_that_vanishes_lets_the_program_go_on(tmp_path: Path) -> None:
    with server(tmp_path, SUMS, 4) as (gdb, said):
        assert gdb(f"Z0,{at(AGAIN):x},8") == "OK"
        assert gdb("c").startswith("T05")
        assert gdb.word(256) < TOTAL
    assert said == ["0", ""]


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return int(probe.getsockname()[1])


@pytest.mark.parametrize(("dpu", "seen"), [("", [43, 42]), (":0.1.0", [42, 43])])
def test_a_dpu_of_a_host_program(tmp_path: Path, dpu: str, seen: list[int]) -> None:
    """The first launch of one DPU; what the debugger changes the host sees."""
    program, port = tmp_path / "task", free_port()
    program.write_bytes(elf("move r0, 42\n sw zero, 256, r0\n stop\n").image())
    settings = {**os.environ, "CUDLA_SIM_UPMEM_GDB": f"{port}{dpu}"}
    with subprocess.Popen(
        [sys.executable, "-c", HOST, str(program)],
        env=settings, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as host:  # fmt: skip
        assert host.stderr is not None
        assert f"waits for a debugger at localhost:{port}" in host.stderr.readline()
        gdb = Client(port)
        assert gdb("s").startswith("T05")
        assert gdb("P0=2b000000") == "OK"
        assert gdb("D") == "OK"
        out, _ = host.communicate(timeout=20)
    assert out.splitlines() == [str(seen), "[42, 42]"]


def test_a_wrong_setting(tmp_path: Path) -> None:
    settings = {**os.environ, "CUDLA_SIM_UPMEM_GDB": "gdb"}
    command = [sys.executable, "-c", "from dpu import DpuSet; DpuSet(1)"]
    done = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=20)
    assert "it is PORT or PORT:DPU" in done.stderr


def test_watched_memory_stops_beside_breakpoints(tmp_path: Path) -> None:
    with server(tmp_path, SUMS, 4) as (gdb, said):
        assert gdb("Z2,100,2") == "OK"
        assert gdb(f"Z0,{at(AGAIN):x},8") == "OK"
        stopped = [gdb("vCont;c") for _ in range(24)]
        assert {answer.partition("reason:")[2] for answer in stopped} == {
            "watchpoint;",
            "breakpoint;",
        }
        assert gdb(f"z0,{at(AGAIN):x},8") == gdb("z2,100,2") == "OK"
        assert gdb.word(0x100) < TOTAL
        assert gdb("c").startswith("W")
    assert said[0] == "0"


def test_each_change_of_a_word_is_seen_once(tmp_path: Path) -> None:
    """200 additions, 200 stops, each with the sum up to there."""
    with server(tmp_path, SUMS, 4) as (gdb, _):
        assert gdb("Z2,100,4") == "OK"
        last = 0
        for _ in range(4 * 50):
            answer = gdb("c")
            tasklet = int(answer.partition("thread:")[2][0])
            assert gdb.word(0x100) == last + tasklet
            last += tasklet
        assert last == TOTAL
        assert gdb("c").startswith("W")


def test_mram_is_watched_and_what_is_not(tmp_path: Path) -> None:
    text = "move r0, 64\n sdma r0, r0, 0\n sw zero, 64, 7\n sdma r0, r0, 0\n stop\n"
    with server(tmp_path, text) as (gdb, _):
        assert gdb(f"Z2,{MRAM:x},1") == "OK"
        assert gdb(f"Z2,{MRAM + 64:x},8") == "OK"
        assert gdb("c").startswith(f"T05watch:{MRAM + 64:x};thread:1;")
        assert gdb.registers(1)[_PC] == at(4)
        assert gdb.word(MRAM + 64) == 7
        refused = [f"Z2,{IRAM:x},8", "Z2,100,10", "Z2,10000000,4", f"Z2,{MRAM + 0x4000000 - 2:x},4"]
        assert [gdb(words) for words in refused] == ["E01"] * 4
        assert gdb("Z2,0,4") == gdb("Z2,4,4") == "OK"
        assert gdb("Z2,8,4") == "E01"  # four at most
        assert gdb("z2,4,4") == gdb("z2,4,4") == "OK"
        assert gdb("Z2,8,4") == "OK"
        assert gdb("D") == "OK"


def test_each_read_of_a_word_is_seen(tmp_path: Path) -> None:
    """200 additions: a load of the sum for each, and a store that a watch of reads does not see."""
    with server(tmp_path, SUMS, 4) as (gdb, _):
        assert gdb("Z3,100,4") == "OK"
        last = 0
        for _ in range(4 * 50):
            answer = gdb("c")
            assert answer.startswith("T05rwatch:100;thread:")
            assert gdb.word(0x100) >= last  # the one before has been stored
            last = gdb.word(0x100)
        assert gdb("c").startswith("W")


def test_reads_and_writes_of_a_word_are_seen(tmp_path: Path) -> None:
    with server(tmp_path, SUMS, 4) as (gdb, _):
        assert gdb("Z4,102,1") == "OK"  # a byte of it that stays 0
        sums = []
        for _ in range(2 * 4 * 50):
            assert gdb("c").startswith("T05awatch:102;thread:")
            sums.append(gdb.word(0x100))
        assert sums[::2] == [0, *sums[1:-1:2]]  # a load, a store, under a lock
        assert sums[-1] == TOTAL
        assert gdb("c").startswith("W")


ACCESSES = [
    # an instruction, whether watches of reads and of both see it; bytes 64 to 71 of WRAM and MRAM
    ("lw r3, r1, 0", True, True),
    ("lw r1, r1, 0", True, True),  # the register of the address goes
    ("lbu r3, r1, -1", False, False),
    ("lbs r3, r1, 7", True, True),
    ("lhu r3, r1, 8", False, False),
    ("ld d4, r1, 0", True, True),
    ("lw r3, r2, 0", False, False),
    ("sw r1, 4, r1", False, True),
    ("sw r1, 0, 0", False, True),  # the value that is there
    ("sb r1, -1, r1", False, False),
    ("sd r1, -8, 1", False, False),
    ("sd r1, 0, 1", False, True),
    ("sdma r1, r1, 0", True, True),
    ("sdma r2, r1, 0", False, True),
    ("ldma r1, r2, 0", False, True),
    ("ldma r2, r1, 0", True, True),
    ("ldma r2, r6, 1", True, True),  # two words, the second one
    ("ldma r2, r6, 0", False, False),
]


@pytest.mark.slow
@pytest.mark.parametrize("packet", ["Z3", "Z4"])
@pytest.mark.parametrize(("text", "reads", "both"), ACCESSES)
def test_which_instructions_access(
    tmp_path: Path, text: str, reads: bool, both: bool, packet: str
) -> None:
    begin = "move r1, 64\n move r2, 512\n move r6, 56\n"
    with server(tmp_path, f"{begin} {text}\n move r7, 1\n stop\n") as (gdb, _):
        assert gdb(f"{packet},40,8") == gdb(f"{packet},{MRAM + 64:x},8") == "OK"
        answer = gdb("c")
        if not (reads if packet == "Z3" else both):
            assert answer.startswith("W")
            return
        kind = "rwatch" if packet == "Z3" else "awatch"
        assert re.match(rf"T05{kind}:(40|{MRAM + 64:x});thread:1;reason:watchpoint;", answer)
        assert gdb.registers(1)[_PC] == at(4)
        assert gdb("c").startswith("W")
