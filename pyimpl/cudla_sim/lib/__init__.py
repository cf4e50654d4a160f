"""The native libraries and what build systems need to find them."""
