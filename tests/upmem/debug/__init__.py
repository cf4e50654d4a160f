"""Debuggers of programs that execute the DPU's own instructions."""
