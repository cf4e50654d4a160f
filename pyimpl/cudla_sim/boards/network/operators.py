"""Operators that become one layer, or a few in a row, of functions by names (onnx-tensorrt's
importers)."""

from __future__ import annotations

UNARY = {
    "Abs": "ABS", "Acos": "ACOS", "Acosh": "ACOSH", "Asin": "ASIN", "Asinh": "ASINH",
    "Atan": "ATAN", "Atanh": "ATANH", "Ceil": "CEIL", "Cos": "COS", "Cosh": "COSH", "Erf": "ERF",
    "Exp": "EXP", "Floor": "FLOOR", "IsInf": "ISINF", "IsNaN": "ISNAN", "Log": "LOG", "Neg": "NEG",
    "Not": "NOT", "Reciprocal": "RECIP", "Round": "ROUND", "Sign": "SIGN", "Sin": "SIN",
    "Sinh": "SINH", "Sqrt": "SQRT", "Tan": "TAN",
}  # fmt: skip
ACTIVATION = {
    "Relu": "RELU", "LeakyRelu": "LEAKY_RELU", "Clip": "CLIP", "Sigmoid": "SIGMOID",
    "Tanh": "TANH", "Elu": "ELU", "Selu": "SELU", "Softsign": "SOFTSIGN", "Softplus": "SOFTPLUS",
    "HardSigmoid": "HARD_SIGMOID", "ThresholdedRelu": "THRESHOLDED_RELU", "Gelu": "GELU",
}  # fmt: skip
ELEMENTWISE = {
    "Add": "SUM", "Sum": "SUM", "Sub": "SUB", "Mul": "PROD", "Div": "DIV", "Max": "MAX",
    "Min": "MIN", "Pow": "POW", "Mod": "MOD", "And": "AND", "Or": "OR", "Xor": "XOR",
    "Equal": "EQUAL", "Greater": "GREATER", "Less": "LESS",
    "GreaterOrEqual": "GREATER_EQUAL", "LessOrEqual": "LESS_EQUAL",
}  # fmt: skip
COMPARISONS = ("EQUAL", "GREATER", "LESS", "GREATER_EQUAL", "LESS_EQUAL")
REDUCE = {
    "GlobalAveragePool": "AVG", "GlobalMaxPool": "MAX", "ReduceMean": "AVG", "ReduceMax": "MAX",
    "ReduceMin": "MIN", "ReduceSum": "SUM", "ReduceProd": "PROD",
}  # fmt: skip
SHUFFLE = ("Reshape", "Transpose", "Flatten", "Squeeze", "Unsqueeze")
ROWS: dict[str, tuple[tuple[str, str], ...]] = {
    "HardSwish": (("ACTIVATION", "HARD_SIGMOID"), ("ELEMENTWISE", "PROD")),
    "Mish": (("ACTIVATION", "SOFTPLUS"), ("ACTIVATION", "TANH"), ("ELEMENTWISE", "PROD")),
    "Celu": (("ELEMENTWISE", "DIV"), ("UNARY", "EXP"), ("ELEMENTWISE", "SUM")),
    "GlobalLpPool": (("ELEMENTWISE", "POW"), ("REDUCE", "SUM"), ("ELEMENTWISE", "POW")),
    "LogSoftmax": (("SOFTMAX", ""), ("UNARY", "LOG")),
    "LpNormalization": (("REDUCE", "SUM"), ("ELEMENTWISE", "DIV")),
    "Mean": (("ELEMENTWISE", "SUM"), ("ELEMENTWISE", "PROD")),
    "MeanVarianceNormalization": (
        ("REDUCE", "AVG"), ("ELEMENTWISE", "SUB"), ("REDUCE", "AVG"), ("UNARY", "SQRT"),
        ("ELEMENTWISE", "DIV"),
    ),
    "ReduceL1": (("UNARY", "ABS"), ("REDUCE", "SUM")),
    "ReduceL2": (("ELEMENTWISE", "PROD"), ("REDUCE", "SUM"), ("UNARY", "SQRT")),
    "ReduceLogSum": (("REDUCE", "SUM"), ("UNARY", "LOG")),
    "ReduceLogSumExp": (("UNARY", "EXP"), ("REDUCE", "SUM"), ("UNARY", "LOG")),
    "ReduceSumSquare": (("ELEMENTWISE", "PROD"), ("REDUCE", "SUM")),
    "Shrink": (("ELEMENTWISE", "GREATER"), ("SELECT", "")),
}  # fmt: skip
"""Operators of several layers, one behind the other: (kind, function)."""
OTHERS = {
    "ArgMax": "TOPK", "ArgMin": "TOPK", "BitShift": "ELEMENTWISE", "Cast": "CAST",
    "CastLike": "CAST", "ConstantOfShape": "FILL", "CumSum": "LOOP", "DeformConv": "PLUGIN",
    "Dropout": "IDENTITY", "Einsum": "EINSUM",
    "Expand": "SLICE", "EyeLike": "CONSTANT", "GRU": "LOOP", "Gather": "GATHER",
    "GatherElements": "GATHER", "GatherND": "GATHER", "GridSample": "GRID_SAMPLE",
    "GroupNormalization": "NORMALIZATION", "Hardmax": "TOPK", "Identity": "IDENTITY",
    "If": "CONDITION", "InstanceNormalization": "NORMALIZATION", "LSTM": "LOOP",
    "LayerNormalization": "NORMALIZATION", "Loop": "LOOP",
    "NonMaxSuppression": "NMS", "NonZero": "NON_ZERO", "OneHot": "ONE_HOT", "Pad": "SLICE",
    "RNN": "LOOP", "Range": "FILL", "ReverseSequence":
    "REVERSE_SEQUENCE", "RoiAlign": "PLUGIN", "Scan": "LOOP", "Scatter": "SCATTER",
    "ScatterElements": "SCATTER", "ScatterND": "SCATTER", "Shape": "SHAPE", "Size": "SHAPE",
    "Tile": "SLICE", "TopK": "TOPK", "Trilu": "SELECT", "Where": "SELECT",
}  # fmt: skip
"""Operators whose layer has nothing that a rule of the DLA asks for but its kind."""
