/*
 * Half instructions that the running tasklet has executed since its last event. Counted programs add
 * to it in every basic block (toolchain/counting.py); only they link this file.
 */
#include "rt.h"

uint64_t __rt_count;
