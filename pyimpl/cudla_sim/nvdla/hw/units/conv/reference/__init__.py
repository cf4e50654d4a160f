"""Convolutions in numpy."""
