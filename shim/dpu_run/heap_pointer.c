/* Where the free part of WRAM begins: what alloc.c hands out lies below, and race.c looks there. */
#include "rt.h"

extern char __sys_heap_pointer_reset[] __attribute__((visibility("default")));

IN_WRAM("heap") volatile uintptr_t __sys_heap_pointer = (uintptr_t)__sys_heap_pointer_reset;
