/* <assert.h>: a failed assertion stops the DPU with fault 3. */
#ifndef UPMEM_SYSLIB_ASSERT_H
#define UPMEM_SYSLIB_ASSERT_H

#include <attributes.h>
#include <dpufault.h>
#include <macro_utils.h>

__RT_C_BEGIN

void __rt_program_fault(unsigned int code) __RT_ENDS;

#ifdef NDEBUG
#define assert(ignore) ((void)0)
#else
#define assert(expression) ((expression) ? (void)0 : __rt_program_fault(3))
#endif
#ifndef __cplusplus
#define static_assert _Static_assert
#endif

__RT_C_END

#endif
