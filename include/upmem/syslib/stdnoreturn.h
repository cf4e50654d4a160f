/* <stdnoreturn.h> */
#ifndef UPMEM_SYSLIB_STDNORETURN_H
#define UPMEM_SYSLIB_STDNORETURN_H

#define noreturn _Noreturn

#endif
