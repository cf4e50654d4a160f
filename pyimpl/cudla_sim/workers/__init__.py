"""Processes that run what a device runs, and the runtimes that are linked into it.

``image`` and ``process``: starting, greeting, watching and ending a worker. ``places``: names for
the addresses of its program. ``runtime``: the cached build of a runtime. What a worker runs and
what is said to it is the business of ``upmem`` and ``cupva``.
"""
