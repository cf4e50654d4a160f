"""``cudla-sim dpu debug``: gdb on the process that runs a native DPU program."""

from __future__ import annotations

import json
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import click

from ... import flags, paths
from ...constants.dpu_protocol import WaitKind
from ...core.text import tell
from ...upmem.debug import native
from ..command import Command, option

_POLL_S = 0.1
_NO_COMMAND = 127
_WAITS = {
    WaitKind.BARRIER: "waits at a barrier",
    WaitKind.MUTEX: "waits for a mutex",
    WaitKind.SEMAPHORE: "waits for a semaphore",
    WaitKind.NOTIFY: "waits in handshake_notify",
    WaitKind.HANDSHAKE: "waits for a notification",
    WaitKind.VMUTEX: "waits for a virtual mutex",
    WaitKind.STOPPED: "has stopped",
    WaitKind.ENDED: "has ended",
}


@click.command(
    cls=Command,
    context_settings={"allow_interspersed_args": False},
    arguments=[("PROGRAM [ARGS]...", "The host program, behind --.")],
    options_metavar="[OPTIONS] --",
)
@option(
    "--ex",
    "commands",
    metavar="COMMAND",
    multiple=True,
    group="gdb",
    help="A command for gdb, before it asks; several are done in order.",
)
@option("--batch", is_flag=True, group="gdb", help="Only these commands; gdb asks nothing.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED, metavar="PROGRAM [ARGS]...")
def debug(command: tuple[str, ...], commands: tuple[str, ...], batch: bool) -> None:
    """Run a host program, and gdb on the process that runs its DPU program: cudla-sim dpu debug --
    ./host args

    gdb waits before the first launch. Breakpoints, steps and variables are those of the DPU
    program's C source (compiled with -g). `info tasklets` lists the tasklets, `tasklet N` looks at
    one of them, `$_tasklet()` is the number of the one that runs.
    """
    if not command:
        raise click.UsageError("name a program, as in -- ./host args")
    gdb = shutil.which("gdb")
    if gdb is None:
        tell("cudla-sim dpu debug: gdb is not installed (apt-get install gdb)")
        raise click.exceptions.Exit(_NO_COMMAND)
    words = [word for text in commands for word in ("-ex", text)]
    start = [gdb, "-q", *(["-batch"] if batch else []), "-iex", "set debuginfod enabled off"]
    with tempfile.TemporaryDirectory(prefix="cudla-sim-") as folder:
        place = Path(folder) / "workers"
        with socket.socket(socket.AF_UNIX) as listening:
            listening.bind(str(place))
            listening.listen()
            status = _run(list(command), listening, place, start, words)
    raise click.exceptions.Exit(status)


def _run(
    command: list[str], listening: socket.socket, place: Path, start: list[str], words: list[str]
) -> int:
    search = flags.environment(cuda=not paths.real_cuda_present())
    given = {name: search[name] for name in ("LD_LIBRARY_PATH", "PATH", "UPMEM_HOME")}
    settings = {"CUDLA_SIM_UPMEM_DEBUGGER": str(place), "CUDLA_SIM_UPMEM_WORKERS": "1"}
    environment = {**os.environ, **given, **settings, "CUDLA_SIM_WORKER_TIMEOUT": "0"}
    environment.setdefault("CUDLA_SIM_PYTHON", sys.executable)
    try:
        # a group of its own: Ctrl-C is for gdb
        host = subprocess.Popen(
            command, env=environment, stdin=subprocess.DEVNULL, start_new_session=True
        )
    except OSError as error:
        tell(f"cudla-sim dpu debug: {command[0]}: {error.strerror}")
        return _NO_COMMAND
    with host:
        try:
            while host.poll() is None:
                if select.select([listening], [], [], _POLL_S)[0]:
                    with listening.accept()[0] as worker:
                        _attach(worker, start, words)
        finally:
            host.kill()  # nothing, once it has ended
    return host.returncode if host.returncode >= 0 else 128 - host.returncode


def _attach(worker: socket.socket, start: list[str], words: list[str]) -> None:
    """Until the user leaves gdb. The worker gets work when gdb says so, or has ended."""
    told = json.loads(worker.makefile("rb").read())
    if not told["native"]:
        tell(
            f"cudla-sim dpu debug: {told['program']} is in the DPU's own instructions; "
            "CUDLA_SIM_UPMEM_GDB=PORT and `cudla-sim dpu gdbserver` debug those"
        )
        return
    script = Path(native.__file__).with_name("in_gdb.py")
    known = {
        "ready": worker.fileno(),
        "waits": {int(kind): text for kind, text in _WAITS.items()},
        "ended": int(WaitKind.ENDED),
    }
    pid = int(told["pid"])
    subprocess.run(
        [*start, f"/proc/{pid}/exe", str(pid), "-x", str(script), *words],
        env={**os.environ, "CUDLA_SIM_GDB": json.dumps(known)},
        pass_fds=[worker.fileno()],
        check=False,
    )
