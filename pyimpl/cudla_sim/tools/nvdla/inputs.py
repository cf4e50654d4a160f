"""What the commands that run loadables have in common: input files, and how they fail."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...core.text import tell
from ...nvdla.errors import NvdlaError
from ...nvdla.loadable import DataType, Loadable
from .. import picture_options
from ..command import option, wrong_usage

if TYPE_CHECKING:
    from ...core.memory import Bytes
    from ...nvdla.pictures import Preparation

ANY = ("", "auto")
"""Values of ``--config`` that leave the choice to the loadable or the trace."""

_GROUP = "Input"
INPUT = option(
    "--input",
    multiple=True,
    metavar="[NAME=]FILE",
    group=_GROUP,
    help="Raw buffer, .npy (n,c,h,w), .pgm, .ppm, .jpg, .png, for the input of that name or "
    "number. Zeros where it is left out.",
)


def prepared(command: Callable[..., None]) -> Callable[..., None]:
    """Adds ``--mean``, ``--scale`` and ``--normalize``; the command gets ``pictures``."""

    @functools.wraps(command)
    def wrapped(**given: Any) -> None:
        from ...nvdla.pictures import Preparation

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


def files(words: Sequence[str], names: Sequence[str], what: str = "input") -> dict[int, Path]:
    """``NAME=FILE`` or ``N=FILE``; a bare FILE is number 0. Raises UsageError.

    A name may hold "="; one that is a number is taken as a name first.
    """
    found: dict[int, Path] = {}
    for word in words:
        index, file = _file(word, names, what)
        if index >= len(names):
            raise wrong_usage(f"{what} {index}: the network has {len(names)}, numbered from 0")
        if index in found:
            raise wrong_usage(f"{what} {names[index]!r} is given twice")
        found[index] = Path(file)
    return found


def _file(word: str, names: Sequence[str], what: str) -> tuple[int, str]:
    for index, name in enumerate(names):
        if word.startswith(f"{name}="):
            return index, word[len(name) + 1 :]
    number, equals, file = word.partition("=")
    if equals and number.isdigit():
        return int(number), file
    if equals and not Path(word).exists():
        raise wrong_usage(f"there is no {what} {number!r}; the {what}s are {', '.join(names)}")
    return 0, word


def read_loadable(file: Path) -> Loadable:
    """Raises OSError, NvdlaError with the file's name."""
    return loadable_of(file, file.read_bytes())


def loadable_of(file: Path, data: bytes) -> Loadable:
    """The loadable in *data*, which *file* holds. Raises NvdlaError with the file's name."""
    try:
        return Loadable.parse(data)
    except NvdlaError as error:
        raise NvdlaError(f"{file}: {error}") from None


def read_inputs(network: Loadable, words: list[str], pictures: Preparation) -> dict[int, Bytes]:
    """Raw buffers by number from ``NAME=FILE`` or ``N=FILE`` words. Raises OSError, UsageError,
    InputError."""
    from ...nvdla import images

    given = files(words, [tensor.name for tensor in network.inputs])
    how = pictures.mean, pictures.normalize or 1.0, pictures.scale or None
    if (pictures.mean or pictures.normalize) and not pictures.scale:
        for n in given:
            if network.inputs[n].data_type == DataType.INT8:
                tell(
                    f"cudla-sim nvdla: input {network.inputs[n].name!r} is int8: pictures become "
                    "pixel * 127 / 255 there, as in the public runtime; with --scale they become "
                    "(pixel - mean) * scale"
                )
    return {n: images.load(f, network.inputs[n], *how) for n, f in given.items()}


def configuration_for(network: Loadable, wish: str, command: str, name: str = "") -> str:
    """The configuration to take; tells where several would do. Raises NvdlaError."""
    from ...nvdla import target

    chosen = target.choice(network, wish)
    if chosen.among:
        tell(f"cudla-sim {command}: {name or 'the loadable'} {chosen}; --config takes another")
    return chosen.name


def tell_zeros(network: Loadable, buffers: dict[int, Bytes], what: str = "run") -> None:
    """Says which inputs nobody gave."""
    for number, tensor in enumerate(network.inputs):
        if number not in buffers:
            tell(
                f"cudla-sim nvdla {what}: input {number} {tensor.name!r} is fed zeros; "
                f"--input {number}=FILE gives it data"
            )
