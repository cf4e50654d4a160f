"""Hardware time of UPMEM: launches (counted by the programs, see shim/dpu_run/times.c), and
transfers between host and DPUs. docs/timing.md says how far to trust it."""
