"""From ONNX networks to NVDLA loadables.

``front`` reads ONNX into the graph of :mod:`.graph`; ``calibrate`` finds ranges of its values;
``lower`` turns it into operations that a hardware configuration can do; ``plan`` gives memory.
"""
