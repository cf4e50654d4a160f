"""The DPU compiler driver: C for a DPU in, a program that a worker runs out."""
