"""Every rule of the hardware, once: configurations, modes, precisions, limits, sizes of tables,
shares of the convolution buffer, maps of the registers.

Functions of a configuration and of numbers, without descriptors and without numpy. Models, drivers,
compiler, checker, timing and replay take their names from here; what is computed with them stands
in ``hw``.
"""
