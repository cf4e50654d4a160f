"""The kernel-mode driver: reads a task's descriptors and drives the registers."""
