"""Damages bytes the way files get damaged, and the way attackers do it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

INTERESTING = (
    0, 1, 2, 3, 4, 7, 8, 16, 31, 32, 63, 64, 127, 128, 255, 256, 4095, 4096, 65535, 65536,
    (1 << 31) - 1, 1 << 31, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1,
)  # fmt: skip


def mutated(data: bytes, random: Random, protect: tuple[int, int] = (0, 0)) -> bytes:
    """*data* with one to eight changes, none of them in the bytes [first, end) of *protect*."""
    out = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        if not out:
            break
        kind = random.randrange(6 if protect == (0, 0) else 3)
        at = random.randrange(len(out))
        if protect[0] - 8 < at < protect[1]:
            continue
        if kind == 0:
            out[at] ^= 1 << random.randrange(8)
        elif kind == 1:
            out[at] = random.randrange(256)
        elif kind == 2:
            size = random.choice((1, 2, 4, 8))
            value = random.choice(INTERESTING) & ((1 << 8 * size) - 1)
            out[at : at + size] = value.to_bytes(size, "little")[: len(out) - at]
        elif kind == 3:
            del out[at : at + random.choice((1, 4, 100))]
        elif kind == 4:
            other = random.randrange(len(out))
            out[at:at] = out[other : other + random.choice((1, 4, 100))]
        else:
            del out[at:]
    return bytes(out)


ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 1.5, -0.0, 1e308, float("nan"), float("inf"), "", "x", "\x1b[2J",
    "\ud800", "²", "../../etc/passwd", "/dev/zero", [], {}, [[]], [0] * 9, {"": 0}, *INTERESTING,
)  # fmt: skip
"""What stands in files where something else should."""


def altered(value: Any, random: Random, share: float = 0.05) -> Any:
    """What JSON says, with a *share* of its values replaced, left out or doubled."""
    if random.random() < share:
        return random.choice(ODD)
    if isinstance(value, dict):
        kept = {k: v for k, v in value.items() if random.random() > share / 4}
        return {k: altered(v, random, share) for k, v in kept.items()}
    if isinstance(value, list | tuple):
        made = [altered(v, random, share) for v in value if random.random() > share / 4]
        return made + made[-1:] if random.random() < share / 2 else made
    return value


def text_mutated(text: str, random: Random, words: Sequence[str]) -> str:
    """*text* with some of its words replaced by others, or damaged as bytes are."""
    if random.random() < 0.3:
        return mutated(text.encode(), random).decode(errors="replace")
    pieces = re.split(r"(\W)", text)
    for _ in range(random.choice((1, 1, 2, 3, 8))):
        at = random.randrange(len(pieces))
        number = random.choice((str, hex))(random.choice(INTERESTING) * random.choice((1, 1, -1)))
        pieces[at] = random.choice((number, number, "", "²", "\x00", *words, *pieces[:50]))
    return "".join(pieces)
