"""Functional units. They read nothing but register groups and memory."""
