/*
 * dpu_macro_utils.h - text and token helpers that the other headers and some programs use.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_MACRO_UTILS_H
#define CUDLA_SIM_UPMEM_DPU_MACRO_UTILS_H

#define _STR(x) #x
#define _XSTR(x) _STR(x)
#define _CONCAT(x, y) x##y
#define _CONCAT_X(x, y) _CONCAT(x, y)

#ifndef __MAYBE_UNUSED__
#define __MAYBE_UNUSED__ __attribute__((unused))
#endif

#endif
