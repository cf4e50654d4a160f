"""The lines that the SDK's library writes on standard error at its default verbosity.

Their form is ``component:LEVEL:date|time: function: text``. A library without explanations of its
own says little more than that; the first of them says how to get ours.
"""

from __future__ import annotations

import sys
from time import localtime, strftime

from ..core import process
from ..core.text import printable

_HINT = (
    "cudla-sim: CUDLA_SIM_EXPLAIN=1 explains each call that fails (which argument, what would be "
    "right)\n"
)


class _Said:
    """What is said once a process."""

    hint = False
    texts: set[str] = set()  # noqa: RUF012


def warn(function: str, text: str) -> None:
    """The SDK's own warning, in its own words."""
    now = strftime("%Y-%m-%d|%H:%M:%S", localtime())
    _say(printable(f"api:WARNING:{now}: {function}: {text}") + "\n")


def refuse(function: str, text: str) -> None:
    """Where the SDK is silent or its words are not known: ours, once for each text. Nothing where
    each call that fails is explained: that says the same."""
    if text not in _Said.texts and not _explained():
        _Said.texts.add(text)
        _say(printable(f"cudla-sim: {function}: {text}") + "\n")


def remark(function: str, text: str) -> None:
    """What a call that succeeds gives beside what was asked for, once for each text."""
    if text not in _Said.texts:
        _Said.texts.add(text)
        sys.stderr.write(printable(f"cudla-sim: {function}: {text}") + "\n")


def explain(function: str, text: str) -> None:
    """What a call that succeeds leaves out, for those who want calls to be explained."""
    if _explained():
        remark(function, text)


def _explained() -> bool:
    return process.current().config.general.explain


def _say(line: str) -> None:
    if not _Said.hint and not _explained():
        _Said.hint = True
        line += _HINT
    sys.stderr.write(line)
