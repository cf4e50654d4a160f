"""BDMA: copies between and inside the two memories."""
