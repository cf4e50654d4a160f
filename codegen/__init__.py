"""Turns the vendor headers of ``include/`` into everything that has to agree with them."""
