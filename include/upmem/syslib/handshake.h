/* One tasklet tells another one that it got somewhere. */
#ifndef UPMEM_SYSLIB_HANDSHAKE_H
#define UPMEM_SYSLIB_HANDSHAKE_H

#include <attributes.h>
#include <errno.h>
#include <sysdef.h>

__RT_C_BEGIN

/* Waits until another tasklet has consumed the notification. */
__RT_CALLED void handshake_notify(void);

/* 0, or EALREADY when another tasklet already waits for that notifier. */
__RT_CALLED int handshake_wait_for(sysname_t notifier);

__RT_C_END

#endif
