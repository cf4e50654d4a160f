"""What ``cudla-sim nvcc -ptx`` writes: a module as text, which programs treat as a C string.

The lines of PTX's head are for who looks at the text; the module itself is in comments.
"""

from __future__ import annotations

import base64
import binascii

_MARK = b"// cudla-sim: a module for this machine's processor"
_HEAD = b".version 8.8\n.target sm_87\n.address_size 64\n"
_WIDTH = 96


def wrap(module: bytes) -> bytes:
    code = base64.b64encode(module)
    lines = [b"// " + code[at : at + _WIDTH] for at in range(0, len(code), _WIDTH)]
    return b"\n".join([_MARK, *lines, _HEAD])


def unwrap(text: bytes) -> bytes | None:
    """The module; None where it is other text, or damaged."""
    first, *lines = text.lstrip().split(b"\n")
    if first.rstrip() != _MARK:
        return None
    code = b"".join(line.strip()[3:] for line in lines if line.startswith(b"// "))
    try:
        return base64.b64decode(code, validate=True)
    except binascii.Error:
        return None
