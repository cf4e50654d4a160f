"""``nvcc`` for kernels on the CPU: CUDA C++ becomes C++ that the host's compiler takes."""
