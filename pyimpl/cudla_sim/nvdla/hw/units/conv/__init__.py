"""The convolution pipeline CDMA, CSC, CMAC, CACC."""
