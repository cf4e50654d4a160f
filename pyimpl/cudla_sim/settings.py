"""Which modules declare settings, each in a class ``Settings``: what a process has besides those of
``core.config.General``."""

MODULES = (
    "obs.settings",
    "nvdla.settings",
    "nvdla.timing.settings",
    "cudla.settings",
    "cudart.settings",
    "nvsci.settings",
    "upmem.settings",
    "cupva.settings",
    "workers.settings",
    "nvdla.parts.settings",
)
