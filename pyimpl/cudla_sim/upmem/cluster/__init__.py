"""Ranks on other machines: Dask actors hold their memory and run their programs."""
