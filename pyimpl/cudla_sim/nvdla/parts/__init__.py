"""Networks in parts: loadables for the hardware and ONNX models for the host, in one file.

``cudla-sim compile --fallback cpu`` writes them. A :class:`.package.Package` holds the parts in
order; a plain loadable is a package of one part.
"""
