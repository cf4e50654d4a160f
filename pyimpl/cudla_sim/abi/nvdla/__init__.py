"""The NVDLA driver stack: attaches the handlers of all its layers."""
