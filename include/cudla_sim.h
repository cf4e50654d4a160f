/*
 * cudla_sim.h - what the simulator adds to the vendors' APIs.
 *
 * A program written for the real stacks needs none of this. Everything here may be called from C
 * and from C++, from any thread, before or after any other call.
 */
#ifndef CUDLA_SIM_H
#define CUDLA_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of the functions below that can fail; simExplain tells why. */
typedef enum simStatus {
    simSuccess = 0,
    simErrorInvalidParam = 1,
    simErrorUnknown = -1
} simStatus;

/*
 * Copies the explanation of this thread's last failed call (of any API) into buffer, cut to size
 * and always terminated, and returns its full length without the terminating zero. The text is
 * empty when nothing failed yet. buffer may be NULL to ask for the length.
 */
size_t simExplain(char *buffer, size_t size);

/* Starts Python and loads the models now, instead of inside the first API call. */
simStatus simWarmup(void);

/* Destroys every device, module, buffer and queue: the process is as it was before its first call.
   Waits for work that is running. Handles given out before are stale afterwards. */
simStatus simReset(void);

/*
 * Makes calls or engine work fail on purpose. rule is `point[@n][=STATUS]`: point is the name of
 * an API function ("cudlaSubmitTask") or of a place inside an engine ("dla/task", "dla/timeout",
 * "fence/never"); n is which pass fails, counted from 1 (every pass when left out); STATUS is the
 * name of a status of that API. Several rules are separated by commas. NULL or "" removes all.
 */
simStatus simInjectFault(const char *rule);

/* Writes a Chrome/Perfetto trace of all calls and engine work to path from now on, until
   simTraceStop or the end of the process. */
simStatus simTraceStart(const char *path);
simStatus simTraceStop(void);

#ifdef __cplusplus
}
#endif

#endif
