"""CDP: local response normalisation."""
