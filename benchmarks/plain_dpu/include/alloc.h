#ifndef PLAIN_ALLOC_H
#define PLAIN_ALLOC_H

#include <defs.h>

void *mem_alloc(size_t size);
void *mem_reset(void);

#endif
