/* Nothing public is left in it; programs that include it must still build. */
#ifndef UPMEM_SYSLIB_DEVPRIVATE_H
#define UPMEM_SYSLIB_DEVPRIVATE_H

#include <attributes.h>
#include <dpuruntime.h>

#endif
