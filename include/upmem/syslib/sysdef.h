/* Types that several headers share. */
#ifndef UPMEM_SYSLIB_SYSDEF_H
#define UPMEM_SYSLIB_SYSDEF_H

#include <dpu_characteristics.h>
#include <stdint.h>

typedef uint8_t thread_id_t;
typedef unsigned int sysname_t;

#define __MUTEX_INVALID 0

#endif
