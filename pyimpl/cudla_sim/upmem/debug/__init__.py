"""Looking into DPUs that execute the DPU's own instructions: stopping, stepping, going on."""
