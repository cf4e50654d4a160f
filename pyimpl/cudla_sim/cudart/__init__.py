"""The CUDA runtime subset: a device, its memory, streams as in-order queues, events."""
