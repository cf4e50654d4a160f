/* Connects the extension with libcudla_sim.so as soon as it is loaded. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "extension.h"

/* The library that is loaded already, or, in a Python that nobody called from C, our package's. */
static void *library(void)
{
    void *loaded = dlopen("libcudla_sim.so", RTLD_LAZY | RTLD_NOLOAD);
    Dl_info self;
    char path[PATH_MAX], here[PATH_MAX];
    if (loaded != NULL || dladdr((void *)&sim_bridge_here, &self) == 0 ||
        realpath(self.dli_fname, here) == NULL) {
        return loaded;
    }
    *strrchr(here, '/') = '\0';
    if (snprintf(path, sizeof path, "%s/../lib/libcudla_sim.so", here) >= (int)sizeof path) {
        return NULL;
    }
    return dlopen(path, RTLD_LAZY);
}

__attribute__((constructor)) static void attach(void)
{
    void *front = library();
    sim_bridge_attach_t *call = NULL;
    if (front != NULL) {
        *(void **)&call = dlsym(front, "sim_bridge_attach");
    }
    if (call != NULL) {
        sim_host_there = call(&sim_bridge_here);
    }
}

int sim_bridge_connected(void)
{
    return sim_host_there != NULL;
}
