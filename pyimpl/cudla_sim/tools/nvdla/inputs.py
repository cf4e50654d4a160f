"""What the commands that run loadables have in common: input files, and how they fail."""

from __future__ import annotations

from pathlib import Path

import click

from ...core.memory import Bytes
from ...core.text import tell
from ...nvdla import images
from ...nvdla.loadable import Loadable
from ..command import option

ANY = ("", "auto")
"""Values of ``--config`` that leave the choice to the loadable or the trace."""

INPUT = option(
    "--input",
    multiple=True,
    metavar="N=FILE",
    group="Input",
    help="Raw buffer, .npy (n,c,h,w), .pgm, .ppm, .jpg, .png. Zeros where it is left out.",
)
MEAN = option(
    "--mean", default="", metavar="A,B,C,D", group="Input", help="Subtracted per channel (fp16)."
)
NORMALIZE = option("--normalize", default=1.0, group="Input", help="Divides after the mean (fp16).")


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


def read_inputs(
    network: Loadable, words: list[str], mean: str, normalize: float
) -> dict[int, Bytes]:
    """Raw buffers by number from ``N=FILE`` words. Raises OSError, ValueError, InputError."""
    means = [float(m) for m in mean.split(",")] if mean else []
    if normalize == 0:
        raise ValueError("--normalize is 0; it is a divisor")
    files = numbered(words, len(network.inputs), "input")
    return {n: images.load(f, network.inputs[n], means, normalize) for n, f in files.items()}


def tell_zeros(network: Loadable, buffers: dict[int, Bytes], what: str = "run") -> None:
    """Says which inputs nobody gave."""
    for number, tensor in enumerate(network.inputs):
        if number not in buffers:
            tell(
                f"cudla-sim nvdla {what}: input {number} {tensor.name!r} is fed zeros; "
                f"--input {number}=FILE gives it data"
            )
