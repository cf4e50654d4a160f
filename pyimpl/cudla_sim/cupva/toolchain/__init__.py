"""From sources of a VPU kernel to an object for the host program: ``cudla-sim pva-cc``."""
