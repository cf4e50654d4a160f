/* <string.h> */
#ifndef UPMEM_SYSLIB_STRING_H
#define UPMEM_SYSLIB_STRING_H

#include <attributes.h>
#include <stddef.h>

__RT_C_BEGIN

__RT_CALLED void *memcpy(void *__restrict to, const void *__restrict from, size_t n);
__RT_CALLED void *memmove(void *to, const void *from, size_t n);
__RT_CALLED void *memset(void *to, int c, size_t n);
int memcmp(const void *a, const void *b, size_t n);
void *memchr(const void *where, int c, size_t n);
size_t strlen(const char *s);
size_t strnlen(const char *s, size_t max);
char *strcpy(char *__restrict to, const char *__restrict from);
char *strncpy(char *__restrict to, const char *__restrict from, size_t n);
char *stpcpy(char *__restrict to, const char *__restrict from);
char *stpncpy(char *__restrict to, const char *__restrict from, size_t n);
char *strcat(char *__restrict to, const char *__restrict from);
char *strncat(char *__restrict to, const char *__restrict from, size_t n);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t n);
int strcoll(const char *a, const char *b);
size_t strxfrm(char *__restrict to, const char *__restrict from, size_t n);
char *strchr(const char *s, int c);
char *strrchr(const char *s, int c);
size_t strspn(const char *s, const char *accepted);
size_t strcspn(const char *s, const char *rejected);
char *strpbrk(const char *s, const char *accepted);
char *strstr(const char *s, const char *wanted);
char *strtok(char *__restrict s, const char *__restrict separators);
char *strtok_r(char *__restrict s, const char *__restrict separators, char **__restrict state);
char *strsep(char **s, const char *separators);
char *strlwr(char *s);
char *strupr(char *s);
char *strrev(char *s);
char *strerror(int error);

__RT_C_END

#endif
