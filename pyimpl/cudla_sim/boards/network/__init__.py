"""From an ONNX model to the layers that TensorRT's parser makes of it."""

from .reading import read

__all__ = ["read"]
