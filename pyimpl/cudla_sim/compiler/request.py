"""One compilation, as ``cudla-sim compile`` and ``cudla-sim trtexec`` ask for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .calibrate.methods import PERCENTILE
from .options import Options
from .passes import Watch


@dataclass(slots=True)
class Request:
    """One compilation as the user asks for it."""

    model: Path
    options: Options
    outputs: Sequence[str] = ()
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)
    calib: Sequence[Path] = ()
    method: str = "minmax"
    percentile: float = PERCENTILE
    mean: Sequence[float] = ()
    scale: Sequence[float] = ()
    invent: bool = False
    save_calib: Path | None = None
    input_words: Sequence[str] = ()
    """Formats of inputs in their order (one for all), beside those by name in *options*."""
    output_words: Sequence[str] = ()
    watch: Watch | None = None
    """Is called behind every pass of the front and the back end."""
    parts: bool = False
    """What is refused will go to the host: it need not be complete."""
