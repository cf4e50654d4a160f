"""Options that several commands have: a board, a release of TensorRT, precisions, rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
from click.shell_completion import CompletionItem

from ...board_table import BOARDS, MARKS
from ..command import near, option


class BoardName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A board, by its name or an alias."""

    name = "board"

    def get_metavar(self, param: click.Parameter, ctx: Any = None) -> str:
        return "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        if value in BOARDS:
            return str(value)
        text = f"{value!r} is no board{near(value, list(BOARDS))}: {', '.join(BOARDS)}"
        raise click.BadParameter(text, ctx, param)

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        return [CompletionItem(name) for name in BOARDS if name.startswith(incomplete)]


class ReleaseName(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """A release of TensorRT that has a DLA."""

    name = "version"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from ...boards.errors import DlaError
        from ...boards.releases import release

        if not value:
            return ""  # of the board's last JetPack
        try:
            release(str(value), "orin")
        except DlaError as error:
            raise click.BadParameter(str(error), ctx, param) from None
        return str(value)


class Shapes(click.ParamType):  # type: ignore[type-arg,unused-ignore]
    """``name:1x3x224x224,...``, as trtexec's."""

    name = "shapes"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> dict[str, list[int]]:
        if isinstance(value, dict):
            return value
        found = {}
        for part in str(value).split(","):
            name, _, sizes = part.rpartition(":")
            try:
                found[name.strip("'\"")] = [int(size) for size in sizes.split("x")]
            except ValueError:
                name = ""
            if not name:
                raise click.BadParameter(
                    f"{part!r} is no shape; input:1x3x224x224 is", ctx, param
                ) from None
        return found


def target(function: Callable[..., Any]) -> Callable[..., Any]:
    """``--board``, ``--tensorrt``, ``--int8``, ``--fp16``, ``--standalone``,
    ``--no-fallback``, ``--shapes``,
    ``--calib``, ``--hwc4``, ``--rules`` and ``--without``."""
    for decorate in reversed((
        option("--board", type=BoardName(), default="orin", show_default=True, group="Board",
               help=f"{', '.join(BOARDS)}."),
        option("--tensorrt", type=ReleaseName(), default="", metavar="VERSION", group="Board",
               help="8.4 to 10.7 or 11.4; default: 10.3 for Orin, 8.5.2 for Xavier."),
        option("--int8", is_flag=True, group="Board", help="INT8, with FP16 where that is needed."),
        option("--fp16", is_flag=True, group="Board", help="FP16; the default without --int8."),
        option("--standalone", is_flag=True, group="Board",
               help="As trtexec --buildDLAStandalone: one loadable, no GPU."),
        option("--calib", "calibration", type=click.Path(path_type=Path), default=None,
               metavar="CACHE", group="Network",
               help="TensorRT's calibration cache: what it does not name is FP16."),
        option("--hwc4", is_flag=True, group="Network", help="Inputs are in kDLA_HWC4."),
        option("--no-fallback", is_flag=True, group="Board",
               help="As trtexec without --allowGPUFallback: the build fails if the GPU is needed."),
        option("--shapes", type=Shapes(), default=None, metavar="NAME:1x3x224x224",
               group="Network", help="Sizes that the model leaves open."),
        option("--outputs", default="", metavar="NAMES", group="Network",
               help="Cut the network at these tensors or nodes."),
        option("--rules", type=click.Path(path_type=Path), multiple=True, metavar="FILE",
               group="Rules", help="TOML with further rules; one of a known id replaces it."),
        option("--without", type=click.Choice(MARKS), multiple=True, group="Rules",
               help="Leave rules of this mark out."),
    )):  # fmt: skip
        function = decorate(function)
    return function
