"""Converters of ONNX operators, by name."""

from __future__ import annotations

from importlib import import_module

from .registry import CONVERTERS, Call, Converter

__all__ = ["CONVERTERS", "MODULES", "Call", "converter", "load_all"]

MODULES = {
    "convolutions": "Conv ConvTranspose Gemm MatMul FusedConv FusedMatMul",
    "activations": "Sigmoid Tanh Elu Selu Celu Softplus Softsign Mish ThresholdedRelu HardSigmoid"
    " HardSwish Exp Log Sqrt Reciprocal Erf Sin Cos Floor Ceil Round Gelu FastGelu QuickGelu Swish"
    " Relu Clip LeakyRelu Abs PRelu Softmax Square Greater GreaterOrEqual Less LessOrEqual IsNaN"
    " IsInf Sign Not Equal And Or Xor Mod BitShift",
    "pooling": "MaxPool AveragePool LpPool GlobalAveragePool GlobalMaxPool",
    "arithmetic": "Add Sub Mul Div Max Min Sum Mean Pow Neg Where",
    "arrangement": "Identity Dropout Cast CastLike Shape Size Transpose Reshape Flatten Squeeze"
    " Unsqueeze Expand Tile DepthToSpace SpaceToDepth Concat",
    "selection": "Slice Split SplitToSequence SequenceConstruct SequenceAt ConcatFromSequence"
    " Gather GatherND GatherElements ScatterND ScatterElements OneHot Pad",
    "resizing": "Upsample Resize",
    "reductions": "ReduceMean ReduceSum ReduceMax ReduceMin ReduceSumSquare ReduceL2 ReduceL1",
    "normalization": "BatchNormalization LRN MeanVarianceNormalization LpNormalization"
    " InstanceNormalization GroupNormalization LayerNormalization RMSNormalization"
    " SkipLayerNormalization GroupNorm",
    "recurrent": "LSTM GRU RNN",
    "quantization": "QuantizeLinear DequantizeLinear QLinearConv QLinearMatMul QGemm QLinearAdd"
    " QLinearMul QLinearGlobalAveragePool QLinearAveragePool QLinearSigmoid QLinearLeakyRelu"
    " QLinearSoftmax QLinearConcat",
}
"""Which module has the converters of which operators, of all domains; it is imported when a model
has one of them."""


def converter(domain: str, op: str) -> Converter | None:
    """Who takes an operator into the graph, if anybody does."""
    for module, names in MODULES.items():
        if op in names.split():
            import_module(f".{module}", __name__)
    return CONVERTERS.get((domain, op))


def load_all() -> None:
    """Fills the registry."""
    for module in MODULES:
        import_module(f".{module}", __name__)
