"""``include/upmem/``: the host API of UPMEM's DPUs."""
