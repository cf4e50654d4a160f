"""Programs that run natively, under gdb: their tasklets are fibers of one thread."""
