"""The rules of TensorRT for the DLA: a table (``table.toml``), and what applies it."""
