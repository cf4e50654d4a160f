"""What the commands that run loadables have in common: input files, and how they fail."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from ...core.memory import Bytes
from ...core.text import tell
from ...nvdla import images
from ...nvdla.loadable import Loadable
from ...nvdla.pictures import Preparation
from .. import picture_options
from ..command import option

ANY = ("", "auto")
"""Values of ``--config`` that leave the choice to the loadable or the trace."""

_GROUP = "Input"
INPUT = option(
    "--input",
    multiple=True,
    metavar="N=FILE",
    group=_GROUP,
    help="Raw buffer, .npy (n,c,h,w), .pgm, .ppm, .jpg, .png. Zeros where it is left out.",
)


def prepared(command: Callable[..., None]) -> Callable[..., None]:
    """Adds ``--mean``, ``--scale`` and ``--normalize``; the command gets ``pictures``."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        mean = picture_options.numbers(given.pop("mean"), "--mean")
        rest = picture_options.divisors(given.pop("scale"), given.pop("normalize"))
        command(pictures=Preparation(mean, *rest), **given)

    made: Callable[..., None] = wrapped
    for add in (picture_options.normalize, picture_options.scale, picture_options.mean):
        made = add(_GROUP)(made)
    return made


def fail(what: str, error: object) -> click.exceptions.Exit:
    """Say what is wrong with ``cudla-sim nvdla`` *what*; raise what this returns."""
    tell(f"cudla-sim nvdla {what}: {error}")
    return click.exceptions.Exit(1)


def numbered(words: list[str], count: int, what: str) -> dict[int, Path]:
    """``N=FILE``; a bare FILE is number 0. Raises ValueError."""
    found: dict[int, Path] = {}
    for word in words:
        number, equals, file = word.partition("=")
        index = int(number) if equals and number.isdigit() else 0
        if not equals or not number.isdigit():
            file = word
        if index >= count:
            raise ValueError(f"{what} {index}: the network has {count}, numbered from 0")
        found[index] = Path(file)
    return found


def read_inputs(network: Loadable, words: list[str], pictures: Preparation) -> dict[int, Bytes]:
    """Raw buffers by number from ``N=FILE`` words. Raises OSError, ValueError, InputError."""
    files = numbered(words, len(network.inputs), "input")
    how = pictures.mean, pictures.normalize or 1.0, pictures.scale or 1.0
    return {n: images.load(f, network.inputs[n], *how) for n, f in files.items()}


def tell_zeros(network: Loadable, buffers: dict[int, Bytes], what: str = "run") -> None:
    """Says which inputs nobody gave."""
    for number, tensor in enumerate(network.inputs):
        if number not in buffers:
            tell(
                f"cudla-sim nvdla {what}: input {number} {tensor.name!r} is fed zeros; "
                f"--input {number}=FILE gives it data"
            )
