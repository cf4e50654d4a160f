"""Rewriting a graph into what the units of a configuration compute."""
