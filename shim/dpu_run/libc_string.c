/* <string.h> for DPU programs: C99 plus what the SDK adds. */
#include <ctype.h>
#include <errno.h>
#include <string.h>

#include "race.h"
#include "written.h"

/*
 * The SDK's memcpy copies forward, byte by byte (or by words where that is the same), and programs
 * rely on it: a copy to a little behind its source repeats what lies between, as LZ decoders want.
 */
API void *memcpy(void *to, const void *from, size_t n)
{
    race_watch(from, (uint32_t)n, false, CALLER);
    race_watch(to, (uint32_t)n, true, CALLER);
    unwritten_copied(to, from, (uint32_t)n, false);
    uintptr_t ahead = (uintptr_t)to - (uintptr_t)from;
    if (ahead >= n || ahead >= 64) {
        rt_copy(to, from, (uint32_t)n);
        return to;
    }
    volatile uint8_t *t = to;
    const volatile uint8_t *f = from;
    while (n--)
        *t++ = *f++;
    return to;
}

API void *memmove(void *to, const void *from, size_t n)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    race_watch(from, (uint32_t)n, false, CALLER);
    race_watch(to, (uint32_t)n, true, CALLER);
    unwritten_copied(to, from, (uint32_t)n, t > f);
    if (t <= f || t >= f + n) {
        while (n--)
            *t++ = *f++;
    } else {
        while (n--)
            t[n] = f[n];
    }
    return to;
}

API void *memset(void *to, int c, size_t n)
{
    typedef uint64_t word __attribute__((aligned(1), may_alias));
    uint8_t *t = to;
    race_watch(to, (uint32_t)n, true, CALLER);
    if (rt_unwritten)
        rt_unwritten->wrote((uintptr_t)to, (uint32_t)n);
    uint64_t pattern = 0x0101010101010101ull * (uint8_t)c;
    for (; n >= 8; n -= 8, t += 8)
        *(word *)t = pattern;
    while (n--)
        *t++ = (uint8_t)c;
    return to;
}

API int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *x = a, *y = b;
    for (; n--; x++, y++)
        if (*x != *y)
            return *x - *y;
    return 0;
}

/* compilers call it for memcmp(...) == 0 */
API int bcmp(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n);
}

API void *memchr(const void *where, int c, size_t n)
{
    for (const uint8_t *p = where; n--; p++)
        if (*p == (uint8_t)c)
            return (void *)(uintptr_t)p;
    return NULL;
}

API size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n])
        n++;
    return n;
}

API size_t strnlen(const char *s, size_t max)
{
    size_t n = 0;
    while (n < max && s[n])
        n++;
    return n;
}

API char *stpcpy(char *restrict to, const char *restrict from)
{
    while ((*to = *from++))
        to++;
    return to;
}

API char *strcpy(char *restrict to, const char *restrict from)
{
    char *t = to;
    while ((*t++ = *from++))
        ;
    return to;
}

API char *stpncpy(char *restrict to, const char *restrict from, size_t n)
{
    for (; n && *from; n--)
        *to++ = *from++;
    char *end = to;
    while (n--)
        *to++ = 0;
    return end;
}

API char *strncpy(char *restrict to, const char *restrict from, size_t n)
{
    char *t = to;
    for (; n && *from; n--)
        *t++ = *from++;
    while (n--)
        *t++ = 0;
    return to;
}

API char *strcat(char *restrict to, const char *restrict from)
{
    char *t = to;
    while (*t)
        t++;
    while ((*t++ = *from++))
        ;
    return to;
}

API char *strncat(char *restrict to, const char *restrict from, size_t n)
{
    char *t = to;
    while (*t)
        t++;
    while (n-- && *from)
        *t++ = *from++;
    *t = 0;
    return to;
}

API int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (uint8_t)*a - (uint8_t)*b;
}

API int strncmp(const char *a, const char *b, size_t n)
{
    for (; n && *a && *a == *b; n--)
        a++, b++;
    return n ? (uint8_t)*a - (uint8_t)*b : 0;
}

API int strcoll(const char *a, const char *b)
{
    return strcmp(a, b);
}

API size_t strxfrm(char *restrict to, const char *restrict from, size_t n)
{
    size_t length = strlen(from);
    if (n)
        strncpy(to, from, n);
    return length;
}

API char *strchr(const char *s, int c)
{
    for (;; s++) {
        if (*s == (char)c)
            return (char *)(uintptr_t)s;
        if (!*s)
            return NULL;
    }
}

API char *strrchr(const char *s, int c)
{
    const char *found = NULL;
    for (;; s++) {
        if (*s == (char)c)
            found = s;
        if (!*s)
            return (char *)(uintptr_t)found;
    }
}

API size_t strspn(const char *s, const char *accepted)
{
    size_t n = 0;
    while (s[n] && strchr(accepted, s[n]))
        n++;
    return n;
}

API size_t strcspn(const char *s, const char *rejected)
{
    size_t n = 0;
    while (s[n] && !strchr(rejected, s[n]))
        n++;
    return n;
}

API char *strpbrk(const char *s, const char *accepted)
{
    s += strcspn(s, accepted);
    return *s ? (char *)(uintptr_t)s : NULL;
}

API char *strstr(const char *s, const char *wanted)
{
    size_t n = strlen(wanted);
    for (; strncmp(s, wanted, n); s++)
        if (!*s)
            return NULL;
    return (char *)(uintptr_t)s;
}

API char *strtok_r(char *restrict s, const char *restrict separators, char **restrict state)
{
    if (s == NULL)
        s = *state;
    if (s == NULL)
        return NULL;
    s += strspn(s, separators);
    if (!*s) {
        *state = NULL;
        return NULL;
    }
    char *end = s + strcspn(s, separators);
    *state = *end ? end + 1 : NULL;
    *end = 0;
    return s;
}

API char *strtok(char *restrict s, const char *restrict separators)
{
    static char *state;
    return strtok_r(s, separators, &state);
}

API char *strsep(char **s, const char *separators)
{
    char *start = *s;
    if (start == NULL)
        return NULL;
    char *end = start + strcspn(start, separators);
    *s = *end ? end + 1 : NULL;
    *end = 0;
    return start;
}

API char *strlwr(char *s)
{
    for (char *p = s; *p; p++)
        *p = (char)tolower((uint8_t)*p);
    return s;
}

API char *strupr(char *s)
{
    for (char *p = s; *p; p++)
        *p = (char)toupper((uint8_t)*p);
    return s;
}

API char *strrev(char *s)
{
    size_t n = strlen(s);
    for (size_t i = 0; i < n / 2; i++) {
        char c = s[i];
        s[i] = s[n - 1 - i];
        s[n - 1 - i] = c;
    }
    return s;
}

API char *strerror(int error)
{
    switch (error) {
    case 0:
        return (char *)(uintptr_t) "Success";
    case EINVAL:
        return (char *)(uintptr_t) "Invalid argument";
    case ENOMEM:
        return (char *)(uintptr_t) "Not enough space";
    case EALREADY:
        return (char *)(uintptr_t) "Connection already in progress";
    default:
        return (char *)(uintptr_t) "Unknown error";
    }
}
