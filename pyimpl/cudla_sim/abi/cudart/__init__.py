"""``include/cuda/``: the CUDA runtime subset and a little of the driver interface."""
