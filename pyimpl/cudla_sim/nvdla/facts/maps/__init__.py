"""Register tables of the NVDLA blocks, one text table a block."""
