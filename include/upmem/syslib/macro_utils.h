/* Helpers for names built by macros. */
#ifndef UPMEM_SYSLIB_MACRO_UTILS_H
#define UPMEM_SYSLIB_MACRO_UTILS_H

#define __STR(x) #x
#define __STR_AND_CONCAT(x, y) __STR(x) __STR(y)
#define __CONCAT_X(a, b) a##b
#define __CONCAT(a, b) __CONCAT_X(a, b)
#define __REPEAT_0(x)
#define __REPEAT_1(x) x
#define __REPEAT_2(x) x x
#define __REPEAT_4(x) __REPEAT_2(x) __REPEAT_2(x)
#define __REPEAT_8(x) __REPEAT_4(x) __REPEAT_4(x)

#endif
