/* <stddef.h> */
#ifndef UPMEM_SYSLIB_STDDEF_H
#define UPMEM_SYSLIB_STDDEF_H

typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef __SIZE_TYPE__ size_t;
typedef int wchar_t;
typedef struct {
    long long integer __attribute__((aligned(8)));
    double real __attribute__((aligned(8)));
} max_align_t;

#undef NULL
#define NULL ((void *)0)
#define offsetof(type, member) __builtin_offsetof(type, member)

#endif
