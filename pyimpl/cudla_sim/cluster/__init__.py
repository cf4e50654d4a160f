"""Dask clusters: the connection to one. Nobody imports it unless a program asks for a cluster."""
