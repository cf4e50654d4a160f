"""Whole modules of PTX as CUDA C++, which ``cudla-sim nvcc`` compiles for this processor."""
