/* The print buffer of a program that prints and has no STDOUT_BUFFER_INIT: 1 MiB of MRAM. */
#include <attributes.h>

#include "rt.h"

__mram_noinit unsigned char __stdout_buffer[1 << 20]; /* not kept: printf may be in unused code */
IN_WRAM("print_size") unsigned int __stdout_buffer_size = 1 << 20;
