"""Files that nobody can trust: the one way in for JSON, TOML, gzip, zip, .npy and .npz.

Everything is bounded, size before it is read and unpacked size before it is unpacked, and every
failure is :class:`Unreadable` with one sentence. OSError is raised for what the system refuses.
"""

from __future__ import annotations

import io
import json
import stat
import struct
import sys
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import lazy
from .text import printable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy.module("numpy")

MOST_TEXT = 256 << 20
"""Bytes of JSON or TOML."""
MOST_BYTES = 4 << 30
"""Bytes of any other file, and of what one unpacks to."""
MOST_MEMBERS = 10_000
"""Files in an archive."""


_DAMAGED = (
    NotImplementedError, RuntimeError, EOFError, OSError, ValueError, zlib.error, struct.error,
)  # fmt: skip
"""What the library raises for archives: encrypted ones, odd methods, short records, ..."""


class Unreadable(ValueError):
    """A file that is not what it should be; the text is one sentence."""


def read_bytes(path: Path, most: int = MOST_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError, Unreadable: it is none, or too large."""
    _regular(path, most)
    with path.open("rb") as file:
        data = file.read(most + 1)  # /proc and files that grow have no size beforehand
    if len(data) > most:
        raise Unreadable(f"has more than {most >> 20} MiB")
    return data


def _regular(path: Path, most: int) -> int:
    """The size of a regular file. A FIFO or a device would be waited for, or never end."""
    status = path.stat()
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
        raise Unreadable(f"is {kind}, no file")
    if status.st_size > most:
        raise Unreadable(f"has {status.st_size >> 20} MiB; {most >> 20} at most")
    return status.st_size


def read_text(path: Path) -> str:
    """UTF-8 text. Raises OSError, Unreadable."""
    try:
        return read_bytes(path, MOST_TEXT).decode()
    except UnicodeDecodeError as error:
        raise Unreadable(f"is no text in UTF-8 (byte {error.start})") from None


def parse_json(text: str | bytes) -> Any:
    """Raises Unreadable."""
    if len(text) > MOST_TEXT:
        raise Unreadable(f"is JSON of more than {MOST_TEXT >> 20} MiB")
    try:
        return json.loads(text)
    except RecursionError:
        raise Unreadable("is JSON that is nested too deeply") from None
    except UnicodeDecodeError as error:
        raise Unreadable(f"is no text in UTF-8 (byte {error.start})") from None
    except ValueError as error:
        raise Unreadable(f"is no JSON: {printable(str(error))}") from None


def read_json(path: Path) -> Any:
    """Raises OSError, Unreadable."""
    return parse_json(read_bytes(path, MOST_TEXT))


def parse_toml(text: str) -> dict[str, Any]:
    """Raises Unreadable."""
    if sys.version_info >= (3, 11):
        import tomllib
    else:
        import tomli as tomllib

    try:
        return tomllib.loads(text)
    except RecursionError:
        raise Unreadable("is TOML that is nested too deeply") from None
    except ValueError as error:
        raise Unreadable(f"is no TOML: {printable(str(error))}") from None


def read_toml(path: Path) -> dict[str, Any]:
    """Raises OSError, Unreadable."""
    return parse_toml(read_text(path))


def gunzip(data: bytes, most: int = MOST_BYTES) -> bytes:
    """What gzip packed, one member after the other. Raises Unreadable."""
    found = bytearray()
    while data:
        unpack = zlib.decompressobj(wbits=31)
        try:
            found += unpack.decompress(data, most - len(found) + 1)
        except zlib.error as error:
            raise Unreadable(f"is no gzip file: {error}") from None
        if len(found) > most:
            raise Unreadable(f"unpacks to more than {most >> 20} MiB")
        if not unpack.eof:
            raise Unreadable("is a gzip file that lacks its end")
        data = unpack.unused_data.lstrip(b"\0")
    return bytes(found)


def unzip(source: bytes | Path, most: int = MOST_BYTES) -> dict[str, bytes]:
    """The files of a zip archive. Raises OSError, Unreadable: damaged, encrypted, packed by a
    method that is not known, or too large."""
    import zipfile

    data = read_bytes(source, most) if isinstance(source, Path) else source
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            members = archive.infolist()
            if len(members) > MOST_MEMBERS:
                raise Unreadable(f"holds {len(members)} files; {MOST_MEMBERS} at most")
            total = sum(member.file_size for member in members)
            if total > most:
                raise Unreadable(f"unpacks to {total >> 20} MiB; {most >> 20} at most")
            found = {}
            for member in members:
                with archive.open(member) as opened:
                    found[member.filename] = opened.read(member.file_size + 1)
                if len(found[member.filename]) != member.file_size:
                    raise Unreadable(f"{printable(member.filename)} has another size than it says")
            return found
    except Unreadable:
        raise
    except (*_DAMAGED, zipfile.BadZipFile) as error:
        raise Unreadable(f"is a damaged archive: {printable(str(error))}") from None


def read_npy(path: Path, *, mapped: bool = False) -> NDArray[Any]:
    """An array of a .npy file, *mapped* instead of read. Raises OSError, Unreadable."""
    size = _regular(path, MOST_BYTES)
    with path.open("rb") as file:
        shape, fortran, dtype = _header(file)
        start = file.tell()
        _check_size(shape, dtype, size - start)
        if mapped:
            if 0 in shape:
                return np.zeros(shape, dtype)
            if fortran:
                return np.memmap(path, dtype, "r", start, shape, "F")
            return np.memmap(path, dtype, "r", start, shape, "C")
        return _array(file.read(), shape, fortran, dtype)


def parse_npy(data: bytes) -> NDArray[Any]:
    """The same of its bytes. Raises Unreadable."""
    file = io.BytesIO(data)
    shape, fortran, dtype = _header(file)
    _check_size(shape, dtype, len(data) - file.tell())
    return _array(data[file.tell() :], shape, fortran, dtype)


def read_npz(path: Path) -> dict[str, NDArray[Any]]:
    """The arrays of a .npz file by name. Raises OSError, Unreadable."""
    found = {}
    for name, data in unzip(path).items():
        if not name.endswith(".npy"):
            raise Unreadable(f"holds {printable(name)}, which is no array")
        found[name.removesuffix(".npy")] = parse_npy(data)
    return found


def _header(file: Any) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    try:
        version = np.lib.format.read_magic(file)
        read = {
            (1, 0): np.lib.format.read_array_header_1_0,
            (2, 0): np.lib.format.read_array_header_2_0,
        }.get(version)
        if read is None:
            raise ValueError(f"version {version}")
        shape, fortran, dtype = read(file)
    except Exception as error:  # numpy reads the header as a Python literal: any of its errors
        raise Unreadable(f"is no .npy file: {printable(str(error))}") from None
    if dtype.hasobject:
        raise Unreadable("is a .npy file of Python objects, which are not read")
    return shape, fortran, dtype


def _check_size(shape: tuple[int, ...], dtype: np.dtype[Any], there: int) -> None:
    wanted = dtype.itemsize
    for extent in shape:
        if extent < 0:
            raise Unreadable(f"is no .npy file: its shape is {shape}")
        wanted *= extent
    if wanted > there:
        raise Unreadable(f"is cut off: {shape} of {dtype} has {wanted} bytes, {there} are there")


def _array(
    data: bytes, shape: tuple[int, ...], fortran: bool, dtype: np.dtype[Any]
) -> NDArray[Any]:
    count = 1
    for extent in shape:
        count *= extent
    flat = np.frombuffer(data, dtype, count).copy()
    return flat.reshape(shape[::-1]).T if fortran else flat.reshape(shape)
