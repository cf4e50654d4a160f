/* <errno.h>: one errno a tasklet. */
#include <errno.h>

#include "rt.h"

/* In WRAM, like all data of a DPU: it keeps its value from one launch to the next. */
IN_WRAM("errno") static int values[MAX_TASKLETS] = {0};

int *__rt_errno(void)
{
    return &values[__rt_me];
}
