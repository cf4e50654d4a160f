"""Forks for each client; the child is what Python would be after it has imported a lot."""

from __future__ import annotations

import array
import atexit
import gc
import importlib
import os
import runpy
import selectors
import signal
import socket
import struct
import sys
import threading
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib.util import find_spec

READY = (
    "click",
    "concurrent.futures.thread",
    "ctypes",
    "cudla_sim.cli",
    "cudla_sim.cuda_kernels.driver",
    "cudla_sim.cupva.toolchain.cli",
    "cudla_sim.nvdla.network_run",
    "cudla_sim.nvdla.timing.spreadsheet",
    "cudla_sim.tools.dla.command",
    "cudla_sim.tools.nvdla.command",
    "cudla_sim.tools.nvdla.inspect",
    "cudla_sim.tools.nvdla.run",
    "cudla_sim.tools.nvdla.times",
    "cudla_sim.tools.root",
    "cudla_sim.tools.upmem.command",
    "cudla_sim.upmem.toolchain.cli",
    "elftools.elf.elffile",
    "json",
    "numpy",
    "onnx",
    "subprocess",
    "tempfile",
    "threading",
)
"""None of these starts a thread (onnxruntime does), or looks at the environment when imported."""

READ_AT_THE_START = ("PYTHON", "LD_", "LC_", "LANG", "OPENBLAS_", "OMP_", "MALLOC_", "GLIBC_")
"""How variables begin that Python or what it has imported looked at when it began."""


def early(environment: dict[str, str]) -> dict[str, str]:
    return {k: v for k, v in environment.items() if k.startswith(READ_AT_THE_START)}


@dataclass
class Request:
    folder: str
    words: list[str]
    environment: dict[str, str]
    descriptors: list[int] = field(default_factory=list)

    def taken(self) -> bool:
        if early(self.environment) != early(dict(os.environ)):
            return False
        if os.path.basename(self.words[0]) == "cudla-sim":
            return True
        if self.words[1:2] in (["-m"], ["-c"]):
            return len(self.words) > 2
        return len(self.words) > 1 and not self.words[1].startswith("-")


def received(connection: socket.socket) -> Request:
    head, control, _, _ = connection.recvmsg(8, socket.CMSG_SPACE(12))
    descriptors = array.array("i")
    for _, kind, data in control:
        assert kind == socket.SCM_RIGHTS
        descriptors.frombytes(data)
    size, count = struct.unpack("=II", head)
    data = b""
    while len(data) < size:
        more = connection.recv(size - len(data))
        if not more:
            raise EOFError
        data += more
    texts = [os.fsdecode(text) for text in data.split(b"\0")[:-1]]
    pairs = (text.partition("=") for text in texts[count + 1 :])
    environment = {name: value for name, _, value in pairs}
    return Request(texts[0], texts[1 : count + 1], environment, list(descriptors))


def become(request: Request) -> Callable[[], None]:
    """Makes this process the client's Python; what it is to run."""
    for number, descriptor in enumerate(request.descriptors):
        os.dup2(descriptor, number)
    os.closerange(3, max(map(int, os.listdir("/proc/self/fd"))) + 1)
    os.chdir(request.folder)
    os.environ.clear()
    os.environ.update(request.environment)
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        errors = "backslashreplace" if name == "stderr" else "strict"
        line = name == "stderr" or os.isatty(number)
        stream = open(number, mode, buffering=1 if line else -1, errors=errors, closefd=False)  # noqa: SIM115
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    return runs(request.words)


def runs(words: list[str]) -> Callable[[], None]:
    program, *rest = words
    if os.path.basename(program) == "cudla-sim":
        sys.argv = [program, *rest]
        return lambda: ends_soon(lambda: sys.exit(importlib.import_module("cudla_sim.cli").main()))
    if rest[0] == "-m":
        sys.argv = rest[1:]
        sys.path.insert(0, os.getcwd())
        # as Python does it, which takes the words from sys.argv and runs in the module __main__
        _fresh_main()
        sys.modules.pop(rest[1], None)
        return lambda: ends_soon(lambda: runpy._run_module_as_main(rest[1]))  # type: ignore[attr-defined]
    if rest[0] == "-c":
        sys.argv = ["-c", *rest[2:]]
        sys.path.insert(0, "")
        main = _fresh_main()
        return lambda: exec(compile(rest[1], "<string>", "exec"), vars(main))
    sys.argv = rest
    sys.path.insert(0, os.path.dirname(os.path.abspath(rest[0])))
    _fresh_main()
    return lambda: void(runpy.run_path(rest[0], run_name="__main__"))


def ends_soon(work: Callable[[], None]) -> None:
    """Ends with what commands need of an end: without freeing each module that was imported."""
    status = 0
    try:
        work()
    except SystemExit as end:
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
            status = 1
        else:
            status = int(end.code or 0)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(status & 0xFF)


def void(_: object) -> None:
    pass


def _fresh_main() -> types.ModuleType:
    main = types.ModuleType("__main__")
    vars(main)["__builtins__"] = __builtins__
    sys.modules["__main__"] = main
    return main


def serve(listener: socket.socket) -> Request:
    """Returns in each child, with what it is asked for."""
    children: dict[int, tuple[int, socket.socket]] = {}  # by the descriptor of the process
    clients: dict[int, int] = {}  # processes by the descriptor of the client
    with selectors.DefaultSelector() as events:
        events.register(listener, selectors.EVENT_READ)
        events.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in events.select():
                if key.fd == 0:  # who started the server is gone, however it ended
                    sys.exit()
                if key.fileobj is listener:
                    connection, _ = listener.accept()
                    try:
                        request = received(connection)
                    except (EOFError, ConnectionError):
                        connection.close()
                        continue
                    if not request.taken():
                        connection.send(struct.pack("=i", -1))
                    elif (process := os.fork()) == 0:
                        for each in (listener, connection, *(c for _, c in children.values())):
                            each.detach()  # closed with all the rest, and by nobody later
                        return request
                    else:
                        watched = os.pidfd_open(process)
                        children[watched] = process, connection
                        clients[connection.fileno()] = process
                        events.register(watched, selectors.EVENT_READ)
                        events.register(connection, selectors.EVENT_READ)
                    for descriptor in request.descriptors:
                        os.close(descriptor)
                    if connection.fileno() not in clients:
                        connection.close()
                elif key.fd in children:
                    process, connection = children.pop(key.fd)
                    _, status = os.waitpid(process, 0)
                    events.unregister(key.fd)
                    os.close(key.fd)
                    if clients.pop(connection.fileno(), None) is not None:
                        events.unregister(connection)
                        connection.send(struct.pack("=i", status))
                    connection.close()
                elif key.fd in clients:  # the client was killed, and so is what it started
                    events.unregister(key.fd)
                    os.kill(clients.pop(key.fd), signal.SIGKILL)


def main() -> Callable[[], None]:
    sys.path.pop(0)
    for name in READY:
        if find_spec(name.split(".")[0]):
            importlib.import_module(name)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen(16)
    gc.collect()
    gc.freeze()
    assert len(os.listdir("/proc/self/task")) == 1, "forks of threads are no programs"
    print("ready", flush=True)
    return become(serve(listener))


if __name__ == "__main__":
    main()()
