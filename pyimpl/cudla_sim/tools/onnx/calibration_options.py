"""Options of commands that compile ONNX models: precision, calibration, fallback."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from ...nvdla.facts import precisions
from .. import picture_options
from ..command import option, path_option

METHODS = ("auto", "minmax", "entropy", "percentile", "mse")

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Calibration:
    """What the options say."""

    paths: tuple[Path, ...]
    """Data or calibration caches."""
    method: str
    percentile: float
    mean: list[float]
    """Of pictures: one number, one a channel, or none."""
    scale: list[float]


AUTO = "auto"
"""Int8 with as many layers in fp16 as --target-db takes, or fp16."""


def precision(group: str, auto: bool = False) -> Callable[[F], F]:
    """``--precision``; *auto* is one, too, where a command can measure."""
    kinds = click.Choice([*precisions.NAMES, *([AUTO] if auto else [])])
    text = "What an ONNX model computes in."
    if auto:
        text += " auto: as fast as --target-db (40) allows."
    return option(
        "--precision", type=kinds, default="int8", show_default=True, group=group, help=text
    )


def fallback(group: str) -> Callable[[F], F]:
    """``--fallback``."""
    text = "Nodes that the hardware cannot do run in onnxruntime."
    return option("--fallback", type=click.Choice(["cpu"]), group=group, help=text)


def max_parts(group: str) -> Callable[[F], F]:
    """``--max-parts``."""
    text = "With --fallback: parts at most; what costs least runs on the host."
    kind = click.IntRange(min=1)
    return option("--max-parts", type=kind, metavar="N", group=group, help=text)


def calibrated(group: str, pictures: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Adds the options of calibration; the command gets ``calibration``.

    *group* and *pictures* (``--mean``, ``--scale``, ``--normalize``) are headings of the help.
    """
    options = [
        path_option(
            "--calib",
            multiple=True,
            metavar="PATH",
            group=group,
            help="Data (.npy, .npz, pictures, folders) or a TensorRT calibration cache.",
        ),
        option(
            "--calib-method",
            type=click.Choice(METHODS),
            default="minmax",
            show_default=True,
            group=group,
            help="How ranges come from data.",
        ),
        option(
            "--percentile",
            default=99.99,
            show_default=True,
            group=group,
            help="For --calib-method percentile.",
        ),
        picture_options.mean(pictures),
        picture_options.scale(pictures),
        picture_options.normalize(pictures),
    ]

    def add(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def wrapped(**given: Any) -> None:
            found = Calibration(
                paths=tuple(given.pop("calib")),
                method=given.pop("calib_method"),
                percentile=given.pop("percentile"),
                mean=picture_options.numbers(given.pop("mean"), "--mean"),
                scale=picture_options.factors(given.pop("scale"), given.pop("normalize")),
            )
            command(calibration=found, **given)

        for one in reversed(options):
            wrapped = one(wrapped)
        return wrapped

    return add
