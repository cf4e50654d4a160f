"""Programs in C that call every function as its users do; the reference shows their lines."""
