"""Damaged files and senseless calls: `make fuzz SECONDS=n`, and a fixed part of it as a test."""
