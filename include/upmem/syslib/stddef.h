/* <stddef.h> */
#ifndef UPMEM_SYSLIB_STDDEF_H
#define UPMEM_SYSLIB_STDDEF_H

typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __SIZE_TYPE__ size_t;
#ifndef __cplusplus
typedef int wchar_t;
#endif
typedef struct {
    long long integer __attribute__((aligned(8)));
    double real __attribute__((aligned(8)));
} max_align_t;

#undef NULL
#ifdef __cplusplus
#define NULL __null
#else
#define NULL ((void *)0)
#endif
#define offsetof(type, member) __builtin_offsetof(type, member)

#endif
