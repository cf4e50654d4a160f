/* Caches MRAM behind pointers on hardware; here MRAM is mapped and nothing is needed. */
#ifndef UPMEM_SYSLIB_SOFT_CACHE_H
#define UPMEM_SYSLIB_SOFT_CACHE_H

#include <attributes.h>

__RT_C_BEGIN

static inline void __sys_start_cache(void)
{
}

static inline void flush_cache(void)
{
}

static inline void start_cache(void)
{
}

__RT_C_END

#endif
