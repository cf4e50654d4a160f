/* The print buffer of a program that prints and has no STDOUT_BUFFER_INIT: 1 MiB of MRAM. */
#include <stdio.h>

STDOUT_BUFFER_INIT(1 << 20)
