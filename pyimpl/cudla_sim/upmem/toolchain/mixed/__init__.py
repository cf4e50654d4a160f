"""DPU assembly in programs of C: its functions become C, which is compiled as the rest.

``values`` has what names stand for, ``code`` the C of instructions, ``data`` the sections, ``unit``
the whole of a source; ``signatures`` and ``calls`` are about arguments of 64 bits and numbers with
a point.
"""
