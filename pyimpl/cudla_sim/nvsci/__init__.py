"""NvSciBuf and NvSciSync: attribute lists, reconciliation, buffers, sync objects and fences."""
