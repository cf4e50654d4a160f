/* The table in which barriers and semaphores that a program brings itself link who waits (dpuruntime.h).
   Those of sync.c do not use it. It takes WRAM only in a program that names it. */
#include "rt.h"

extern unsigned char __sys_wq_table[MAX_TASKLETS] __attribute__((visibility("default")));

IN_WRAM("wait_queues") unsigned char __sys_wq_table[MAX_TASKLETS] = {0};
