"""Networks whose times on a DLA have been published, as ONNX models made here.

Only shapes count for a time, so weights are zeros.
"""
