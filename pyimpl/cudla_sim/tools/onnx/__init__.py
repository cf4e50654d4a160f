"""``cudla-sim compile`` and ``cudla-sim trtexec``: ONNX models to loadables."""
