"""What TensorRT would put on the DLA of a board, and how long that takes."""
