"""RUBIK: rearranges cubes in memory."""
