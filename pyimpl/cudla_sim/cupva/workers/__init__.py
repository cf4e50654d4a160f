"""Processes that run VPU programs."""
