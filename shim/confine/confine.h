/* What a worker may do to this machine, and by what it is held. */
#ifndef CONFINE_H
#define CONFINE_H

#include <stdint.h>

/* A sum of these. build_ffi.py writes this file for Python, as cudla_sim.constants.confine. */
enum { ALLOW_FILES = 1, ALLOW_NETWORK = 2, ALLOW_ALL = 7 };

/* A worker's first message: its process, and which layers hold (-1: none can be had). */
struct confine_hello {
    int32_t process, layers;
};
enum { CONFINED_PATHS = 1, CONFINED_CALLS = 2, CONFINED_FULLY = 3 };

/* How it has ended: minus the number of a signal, or this - its exit status. */
enum { EXITED = -1000 };

/* In place of its message that it is ready: this - errno, when it cannot be executed. */
enum { NOT_STARTED = -2000 };

/* Of private memory, open files, and seconds of a processor. */
#define MOST_DATA ((rlim_t)4 << 30)
#define MOST_FILES 256
#define MOST_SECONDS 86400

/* Landlock: CONFINED_PATHS, or 0 where the system has none. */
int confine_paths(uint32_t allowed, int program);

/* seccomp: CONFINED_CALLS if this system has filters, else 0. */
int confine_calls_possible(void);

/* Installs the filter. `program`: the descriptor that may be executed. */
int confine_calls(uint32_t allowed, int program);

#endif
