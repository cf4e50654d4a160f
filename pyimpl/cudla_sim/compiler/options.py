"""What a user may choose for a compilation."""

from __future__ import annotations

from dataclasses import dataclass, field

OVERLAP, STACKING, FLYING, IN_PLACE, CUTS = "overlap", "stacking", "flying", "in-place", "cuts"
BLOCKS = "blocks"
OPTIMISATIONS = {
    OVERLAP: "operations wait only for those whose data or memory they need",
    STACKING: "one operation for surfaces that all get the same convolution (averages)",
    FLYING: "pooling takes what SDP makes on the fly",
    IN_PLACE: "element-wise results take the memory of an operand that nobody needs any more",
    BLOCKS: "pixels over which a convolution of few channels steps become channels first",
    CUTS: "convolutions are cut so that a piece loads while another computes",
}
"""What the compiler does for speed or memory alone, and ``without`` switches off."""

LAYERWISE = (FLYING, CUTS)
"""Without these a layer has operations of its own, and no more than it needs."""


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of one compilation.

    *config* is a hardware configuration, *precision* "int8", "int16" or "fp16". *input_formats*
    and *output_formats* map names of ONNX tensors to "type:format" ("int8:chw32", "fp16:chw16",
    "int8:dla_hwc4", "int8:dla_linear"); what is absent gets the feature format of the precision.
    *direct* keeps layers as they are: an average is PDP's, a convolution of few channels is one,
    and kernels keep what meets nothing but padding.
    *without* are names of :data:`OPTIMISATIONS` that are left out; results are the same.
    *zero_points* lets int8 values inside the network have others than 0, where their range is not
    as far below 0 as above; not with *winograd*, whose transformed inputs have no place for it.
    *keep_fp16* are names of ONNX nodes that run in fp16 inside an int8 network (nv_full).
    *cvsram* are the bytes of the second memory that activations may take, where the configuration
    has a port for one; no public source says how much there is.
    *batch_mode*: a convolution takes several pictures of a batch at once where that is faster
    (nv_full); else each picture has operations of its own.
    *picture_line*: bytes that a line of a dla_hwc4 picture is a multiple of: 64 on Orin, 32 on
    Xavier (developer guide, DLA I/O formats).
    *winograd*: convolutions of 3 x 3 are in Winograd mode where that takes less time (nv_full).
    Results are near those of direct ones, not the same.
    """

    config: str = "nv_full"
    precision: str = "int8"
    input_formats: dict[str, str] = field(default_factory=dict)
    output_formats: dict[str, str] = field(default_factory=dict)
    keep_fp16: tuple[str, ...] = ()
    direct: bool = False
    without: tuple[str, ...] = ()
    cvsram: int = 0
    batch_mode: bool = True
    winograd: bool = False
    zero_points: bool = True
    picture_line: int = 64
