/*
 * Interrupt handlers of programs that drive the registers themselves. Each has a thread that asks
 * Python to run the core until the interrupt line is up, comes back, and calls the handler from
 * plain C.
 */
#include <pthread.h>
#include <stdlib.h>

#include "boot.h"
#include "generated/hand_written.h"
#include "shared.h"

struct server {
    uint32_t core;
    uint64_t number;
    simInterruptHandler handler;
    void *arg;
};

static void *serve(void *argument)
{
    struct server self = *(struct server *)argument;
    free(argument);
    while (impl_sim_nvdla_wait(self.core, self.number) > 0) {
        self.handler(self.arg);
    }
    return NULL;
}

SIM_EXPORT simStatus simSetInterruptHandler(uint32_t core, simInterruptHandler handler, void *arg)
{
    if (sim_enter() != 0) {
        return simErrorUnknown;
    }
    simStatus status = impl_simSetInterruptHandler(core, handler, arg);
    if (status != simSuccess || handler == NULL) {
        return status;
    }
    struct server *self = malloc(sizeof *self);
    pthread_t thread;
    pthread_attr_t attributes;
    if (self == NULL) {
        return simErrorUnknown;
    }
    *self = (struct server){core, impl_sim_nvdla_handler(core), handler, arg};
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    int failed = pthread_create(&thread, &attributes, serve, self);
    pthread_attr_destroy(&attributes);
    if (failed) {
        free(self);
        return simErrorUnknown;
    }
    return simSuccess;
}
