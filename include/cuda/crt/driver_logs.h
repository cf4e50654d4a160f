/* SPDX-License-Identifier: Apache-2.0
 *
 * driver_logs.h - why calls failed, as the driver keeps it; and where a GPU's core would go. Part of cuda.h.
 *
 * A line of the log: [hour:minute:second.milliseconds][thread][CUDA][E][function] explanation. The environment variable
 * CUDA_LOG_FILE (stdout, stderr or a path) writes them as they come.
 */
#ifndef __CUDA_CRT_DRIVER_LOGS_H__
#define __CUDA_CRT_DRIVER_LOGS_H__

#include <stddef.h>

typedef unsigned int CUlogIterator;
typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;

typedef void (*CUlogsCallback)(void *data, CUlogLevel logLevel, char *message, size_t length);

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback_out);
CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback);
/* The end of the log: what a dump that begins there will find comes later. */
CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags);
/* From *iterator on, which is then the end; all of it where iterator is NULL. */
CUresult cuLogsDumpToFile(CUlogIterator *iterator, const char *pathToFile, unsigned int flags);
/* *size: bytes of the buffer, then of the text without its zero. The newest lines where not all fit. */
CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags);

/* Kept and told again; no core is written. Without value, *size is what it takes. */
CUresult cuCoredumpGetAttribute(CUcoredumpSettings attrib, void *value, size_t *size);
CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size);
CUresult cuCoredumpSetAttribute(CUcoredumpSettings attrib, void *value, size_t *size);
CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attrib, void *value, size_t *size);

#endif /* __CUDA_CRT_DRIVER_LOGS_H__ */
