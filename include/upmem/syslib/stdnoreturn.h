/* <stdnoreturn.h> */
#ifndef UPMEM_SYSLIB_STDNORETURN_H
#define UPMEM_SYSLIB_STDNORETURN_H

#ifndef __cplusplus
#define noreturn _Noreturn
#endif

#endif
