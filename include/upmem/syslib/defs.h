/* The tasklet itself. */
#ifndef UPMEM_SYSLIB_DEFS_H
#define UPMEM_SYSLIB_DEFS_H

#include <attributes.h>
#include <dpuruntime.h>
#include <limits.h>
#include <macro_utils.h>
#include <stdint.h>
#include <sysdef.h>

__RT_C_BEGIN

extern unsigned int __rt_me;

/* Number of the tasklet that asks, from 0. */
static inline sysname_t me(void)
{
    return __rt_me;
}

/* Stops the DPU with fault 4. */
void halt(void) __NO_RETURN;

/* Bytes of stack that are left. */
int check_stack(void);

/* DPU instructions in asm statements: the ones that only synchronise become calls. */
#include <dpu_asm.h>

__RT_C_END

#endif
