/* <ctype.h>, the C locale. */
#ifndef UPMEM_SYSLIB_CTYPE_H
#define UPMEM_SYSLIB_CTYPE_H

#include <attributes.h>

__RT_C_BEGIN

int isalnum(int c);
int isalpha(int c);
int isblank(int c);
int iscntrl(int c);
int isdigit(int c);
int isgraph(int c);
int islower(int c);
int isprint(int c);
int ispunct(int c);
int isspace(int c);
int isupper(int c);
int isxdigit(int c);
int tolower(int c);
int toupper(int c);

__RT_C_END

#endif
