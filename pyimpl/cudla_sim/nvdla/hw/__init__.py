"""The NVDLA hardware: register file, interrupt controller, launch rules and functional units."""
