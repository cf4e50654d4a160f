/* <ctype.h> for DPU programs: the C locale. */
#include <ctype.h>

#include "rt.h"

API int isdigit(int c)
{
    return c >= '0' && c <= '9';
}

API int isupper(int c)
{
    return c >= 'A' && c <= 'Z';
}

API int islower(int c)
{
    return c >= 'a' && c <= 'z';
}

API int isalpha(int c)
{
    return isupper(c) || islower(c);
}

API int isalnum(int c)
{
    return isalpha(c) || isdigit(c);
}

API int isblank(int c)
{
    return c == ' ' || c == '\t';
}

API int isspace(int c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

API int iscntrl(int c)
{
    return (c >= 0 && c < 32) || c == 127;
}

API int isprint(int c)
{
    return c >= 32 && c < 127;
}

API int isgraph(int c)
{
    return c > 32 && c < 127;
}

API int ispunct(int c)
{
    return isgraph(c) && !isalnum(c);
}

API int isxdigit(int c)
{
    return isdigit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f');
}

API int tolower(int c)
{
    return isupper(c) ? c + 32 : c;
}

API int toupper(int c)
{
    return islower(c) ? c - 32 : c;
}
