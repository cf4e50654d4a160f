"""Published times of DLAs beside estimates of the same networks."""
