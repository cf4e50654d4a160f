"""Doing again what was done before: tasks, layers, weights (docs/inside/again.md)."""
