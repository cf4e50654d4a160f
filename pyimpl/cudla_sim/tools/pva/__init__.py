"""``cudla-sim pva``: VPU kernels and cuPVA programs."""
