/* What the headers need of <stdio.h>, for the parser only: cffi knows FILE by itself. */
#ifndef CUDLA_SIM_PARSE_STDIO_H
#define CUDLA_SIM_PARSE_STDIO_H
#include <stddef.h>
typedef struct _IO_FILE FILE;
#endif
