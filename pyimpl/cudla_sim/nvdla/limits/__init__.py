"""What the hardware can hold: convolution buffer, line buffer of pooling, register fields.

Functions of a hardware configuration and of numbers, without descriptors: the compiler plans with
them, the checker checks with them. Nothing of it changes results in the simulator.
"""
