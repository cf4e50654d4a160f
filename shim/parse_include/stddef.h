/* What the headers need of <stddef.h>, for the parser only. */
#ifndef CUDLA_SIM_PARSE_STDDEF_H
#define CUDLA_SIM_PARSE_STDDEF_H
typedef unsigned long size_t;
#define NULL ((void *)0)
#endif
