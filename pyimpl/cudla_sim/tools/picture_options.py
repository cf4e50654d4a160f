"""What happens to the pixels of pictures, the same in every command: (pixel - mean) * scale."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import click

from .command import option

Command = Callable[..., Any]


def mean(group: str) -> Callable[[Command], Command]:
    """``--mean``."""
    text = "Subtracted from pixels; one number, or one a channel: 123,117,104."
    return option("--mean", default="", metavar="A,B,C", group=group, help=text)


def scale(group: str) -> Callable[[Command], Command]:
    """``--scale``."""
    text = "Multiplies after the mean: 0.017."
    return option("--scale", default="", metavar="A,B,C", group=group, help=text)


def normalize(group: str) -> Callable[[Command], Command]:
    """``--normalize``, the word of the public runtime."""
    text = "Divides after the mean: 58.8; the other way to say --scale."
    return option("--normalize", default="", metavar="A,B,C", group=group, help=text)


def numbers(text: str, name: str) -> list[float]:
    """``1,2,3``, or nothing. Wrong usage of the option *name* otherwise."""
    try:
        found = [float(word) for word in text.split(",")] if text else []
    except ValueError:
        found = [math.nan]
    if not all(math.isfinite(number) for number in found):
        raise click.BadParameter(f"{text!r} is no list of numbers", param_hint=name)
    return found


def divisors(scale: str, normalize: str) -> tuple[list[float], list[float]]:
    """Numbers of ``--scale`` and of ``--normalize``. Wrong usage where both are given, or a divisor
    is 0."""
    factors, found = numbers(scale, "--scale"), numbers(normalize, "--normalize")
    if factors and found:
        raise click.UsageError("--scale multiplies, --normalize divides: give one of them")
    if 0 in found:
        raise click.BadParameter("0 is no divisor", param_hint="--normalize")
    return factors, found


def factors(scale: str, normalize: str) -> list[float]:
    """What pixels are multiplied by, from the one or the other."""
    given, divided = divisors(scale, normalize)
    return given or [1 / number for number in divided]
