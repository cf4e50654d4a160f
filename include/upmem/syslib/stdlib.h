/* <stdlib.h>, what a DPU has of it: no malloc. */
#ifndef UPMEM_SYSLIB_STDLIB_H
#define UPMEM_SYSLIB_STDLIB_H

#include <attributes.h>
#include <stddef.h>

__RT_C_BEGIN

#define EXIT_SUCCESS 0
#define EXIT_FAILURE 1

typedef struct {
    int quot, rem;
} div_t;
typedef struct {
    long quot, rem;
} ldiv_t;
typedef struct {
    long long quot, rem;
} lldiv_t;

/* Both end the tasklet that calls. */
void exit(int status) __attribute__((noreturn));
void abort(void) __attribute__((noreturn));

int abs(int v);
long labs(long v);
long long llabs(long long v);
div_t div(int a, int b);
ldiv_t ldiv(long a, long b);
lldiv_t lldiv(long long a, long long b);
int atoi(const char *s);
long atol(const char *s);
long long atoll(const char *s);
long strtol(const char *__restrict s, char **__restrict end, int base);
unsigned long strtoul(const char *__restrict s, char **__restrict end, int base);
long long strtoll(const char *__restrict s, char **__restrict end, int base);
unsigned long long strtoull(const char *__restrict s, char **__restrict end, int base);

__RT_C_END

#endif
