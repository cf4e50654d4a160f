#define _GNU_SOURCE
#include "api.h"
#include "../leaks.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sim_python_api py;

const char *sim_python_resolve(void *library)
{
    const char *missing = NULL;
#define X(result, name, arguments)                                                                 \
    *(void **)&py.name = dlsym(library, #name);                                                    \
    if (py.name == NULL && missing == NULL) {                                                      \
        missing = #name;                                                                           \
    }
    SIM_PYTHON_FUNCTIONS(X)
#undef X
#define X(result, name, arguments) *(void **)&py.name = dlsym(library, #name);
    SIM_PYTHON_STARTERS(X)
#undef X
    return missing;
}

int sim_python_version(const char *text)
{
    int major = 0, minor = 0;
    return sscanf(text, "%d.%d", &major, &minor) == 2 ? major * 100 + minor : 0;
}

/*
 * LeakSanitizer looks for pointers in blocks of malloc. Python's own allocator keeps its small
 * objects elsewhere, and what only those point to would count as lost.
 */
static int wants_malloc(void)
{
    const char *allocator = getenv("PYTHONMALLOC");
    if (allocator != NULL) {
        return strcmp(allocator, "malloc") == 0;
    }
    return sim_has_leak_sanitizer();
}

/* CPython 3.14 and later (PEP 741). */
static int start_by_names(const char *executable, char *why, size_t size)
{
    void *config = py.PyInitConfig_Create();
    const char *problem = "there is no memory";
    int done = -1;
    if (config != NULL) {
        done = py.PyInitConfig_SetInt(config, "utf8_mode", 1);
        if (done == 0 && wants_malloc()) {
            done = py.PyInitConfig_SetInt(config, "allocator", PYMEM_ALLOCATOR_MALLOC);
        }
        if (done == 0) {
            done = py.PyInitConfig_SetStr(config, "program_name", executable);
        }
        if (done == 0) {
            done = py.Py_InitializeFromInitConfig(config);
        }
        if (done != 0) {
            py.PyInitConfig_GetError(config, &problem);
        }
    }
    if (done != 0) {
        snprintf(why, size, "%s", problem != NULL ? problem : "unknown");
    }
    if (config != NULL) {
        py.PyInitConfig_Free(config);
    }
    return done;
}

/* CPython 3.10 to 3.13: the structure differs in size, so it is only passed around. */
static int start_by_structure(const char *executable, char *why, size_t size)
{
    PyPreConfig pre;
    memset(&pre, 0, sizeof pre);
    py.PyPreConfig_InitIsolatedConfig(&pre);
    pre.utf8_mode = 1;
    if (wants_malloc()) {
        pre.allocator = PYMEM_ALLOCATOR_MALLOC;
    }
    PyStatus status = py.Py_PreInitialize(&pre);
    if (status.type != 0) {
        snprintf(why, size, "%s", status.message != NULL ? status.message : "pre-initialisation");
        return -1;
    }
    wchar_t *name = py.Py_DecodeLocale(executable, NULL);
    if (name == NULL) {
        snprintf(why, size, "its path cannot be decoded");
        return -1;
    }
    py.Py_SetProgramName(name); /* copied */
    py.PyMem_RawFree(name);
    union {
        max_align_t alignment;
        char bytes[8192]; /* PyConfig has some 500 */
    } config;
    memset(&config, 0, sizeof config);
    py.PyConfig_InitIsolatedConfig(&config); /* and no signal handlers: Ctrl-C kills the host */
    status = py.Py_InitializeFromConfig(&config);
    py.PyConfig_Clear(&config);
    if (status.type != 0) {
        snprintf(why, size, "%s", status.message != NULL ? status.message : "unknown");
        return -1;
    }
    return 0;
}

int sim_python_start(const char *executable, char *why, size_t size)
{
    /*
     * Isolated: PYTHONPATH and PYTHONHOME of the host's environment are meant for its own Python
     * programs (ROS sets one), not for the interpreter inside this library. It leaves the locale
     * alone too, which is the host's business.
     */
    if (py.PyInitConfig_Create != NULL && py.PyInitConfig_Free != NULL &&
        py.PyInitConfig_SetInt != NULL && py.PyInitConfig_SetStr != NULL &&
        py.PyInitConfig_GetError != NULL && py.Py_InitializeFromInitConfig != NULL) {
        return start_by_names(executable, why, size);
    }
    if (py.PyPreConfig_InitIsolatedConfig == NULL || py.Py_PreInitialize == NULL ||
        py.PyConfig_InitIsolatedConfig == NULL || py.Py_DecodeLocale == NULL ||
        py.Py_SetProgramName == NULL || py.Py_InitializeFromConfig == NULL ||
        py.PyConfig_Clear == NULL) {
        snprintf(why, size, "its libpython has no way to start that is known here");
        return -1;
    }
    return start_by_structure(executable, why, size);
}
