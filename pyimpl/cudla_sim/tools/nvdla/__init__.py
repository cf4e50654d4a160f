"""``cudla-sim nvdla``: loadables and register traces."""
