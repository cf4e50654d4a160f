"""What a user may choose for a compilation."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Options:
    """Choices of one compilation.

    *config* is a hardware configuration, *precision* "int8", "int16" or "fp16". *input_formats*
    and *output_formats* map names of ONNX tensors to "type:format" ("int8:chw32", "fp16:chw16",
    "int8:dla_hwc4", "int8:dla_linear"); what is absent gets the feature format of the precision.
    *direct* keeps layers as they are: an average is PDP's, a convolution of few channels is one,
    and kernels keep what meets nothing but padding.
    *zero_points* lets int8 values inside the network have others than 0, where their range is not
    as far below 0 as above.
    *keep_fp16* are names of ONNX nodes that run in fp16 inside an int8 network (nv_full).
    """

    config: str = "nv_full"
    precision: str = "int8"
    input_formats: dict[str, str] = field(default_factory=dict)
    output_formats: dict[str, str] = field(default_factory=dict)
    keep_fp16: tuple[str, ...] = ()
    direct: bool = False
    zero_points: bool = True
