"""``python -m cudla_sim.cuda_kernels``: nvcc."""

from __future__ import annotations

import sys

from .driver import main

sys.exit(main(sys.argv[1:]))
