/* <stdalign.h> */
#ifndef UPMEM_SYSLIB_STDALIGN_H
#define UPMEM_SYSLIB_STDALIGN_H

#ifndef __cplusplus
#define alignas _Alignas
#define alignof _Alignof
#define __alignas_is_defined 1
#define __alignof_is_defined 1
#endif

#endif
