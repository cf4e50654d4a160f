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
    equalise: bool = False
    """Channels between convolutions get like ranges, for int8."""
    invent: bool = False
    save_calib: Path | None = None
    input_words: Sequence[str] = ()
    """Formats of inputs in their order (one for all), beside those by name in *options*."""
    output_words: Sequence[str] = ()
    target: float | None = None
    """SQNR in dB that layers in fp16 shall bring an int8 network to."""
    whole: bool = False
    """The network may become one of fp16 for that."""
    pixels: dict[str, str] = field(default_factory=dict)
    """Inputs that are 8-bit pictures, nchw or nhwc: *mean* and *scale* go into the network."""
    watch: Watch | None = None
    """Is called behind every pass of the front and the back end."""
    batch: int = 1
    """Pictures of a submission, for each of the model's."""
    parts: bool = False
    """What is refused will go to the host: it need not be complete."""

    def of_samples(self) -> dict[str, Sequence[float]]:
        """What happens to pictures of the calibration data before the network has them."""
        return {} if self.pixels else {"mean": self.mean, "scale": self.scale}
