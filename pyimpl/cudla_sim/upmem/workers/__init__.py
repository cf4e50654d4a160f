"""The processes that run DPU programs, and what they report."""
