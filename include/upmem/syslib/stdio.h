/* <stdio.h>: text for dpu_log_read. */
#ifndef UPMEM_SYSLIB_STDIO_H
#define UPMEM_SYSLIB_STDIO_H

#include <attributes.h>
#include <stddef.h>

__RT_C_BEGIN

#define EOF (-1)

/* Size of the print buffer in MRAM, bytes, a multiple of 8; 1 MiB without it. */
#define STDOUT_BUFFER_INIT(size) \
    _Static_assert((size) >= 8 && (size) % 8 == 0, \
        "the size of the print buffer must be a multiple of 8"); \
    unsigned char __mram_noinit_keep __stdout_buffer[size]; \
    unsigned int __stdout_buffer_size = (size);

void printf(const char *__restrict format, ...);
void puts(const char *string);
void putchar(int c);

__RT_C_END

#endif
