/* Functions of the program that the UPMEM model calls, on threads without Python below them. */
#include <stdint.h>
#include <stdio.h>

#include "dpu.h"
#include "dpu_log_internals.h"
#include "native/native.h"

struct callback {
    dpu_error_t (*function)(struct dpu_set_t, uint32_t, void *);
    struct dpu_set_t set;
    uint32_t number;
    void *arguments;
    uint64_t token;
    dpu_error_t answer;
};

/* On whose behalf this thread runs a callback: what it calls must not wait for those ranks. */
static __thread uint64_t current_token;

uint64_t sim_dpu_token(void)
{
    return current_token;
}

void sim_dpu_set_token(uint64_t token)
{
    current_token = token;
}

static void call(void *argument)
{
    struct callback *job = argument;
    current_token = job->token;
    job->answer = job->function(job->set, job->number, job->arguments);
    current_token = 0;
}

int sim_dpu_callback(void *function, const void *set, uint32_t number, void *arguments,
                     uint64_t token, int *answer)
{
    struct callback job = {(dpu_error_t(*)(struct dpu_set_t, uint32_t, void *))function,
                           *(const struct dpu_set_t *)set, number, arguments, token,
                           DPU_ERR_INTERNAL};
    int status = sim_run_callback((void *)call, &job);
    *answer = (int)job.answer;
    return status;
}

struct output {
    dpu_log_print_fct_t function;
    void *argument;
    const char *text;
    dpu_error_t answer;
};

static void print(void *argument)
{
    struct output *job = argument;
    job->answer = job->function(job->argument, "%s", job->text);
}

int sim_dpu_print(void *function, void *argument, const char *text, int *answer)
{
    struct output job = {(dpu_log_print_fct_t)function, argument, text, DPU_ERR_INTERNAL};
    int status = sim_run_callback((void *)print, &job);
    *answer = (int)job.answer;
    return status;
}
