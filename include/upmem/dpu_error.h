/*
 * dpu_error.h - status codes and the macros that check them. Numbers of SDK 2025.1.
 */
#ifndef CUDLA_SIM_UPMEM_DPU_ERROR_H
#define CUDLA_SIM_UPMEM_DPU_ERROR_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An asynchronous error is DPU_ERR_ASYNC_JOBS | type of job << this | one of the codes below. */
#define DPU_ERROR_ASYNC_JOB_TYPE_SHIFT 16

typedef enum dpu_error_t {
    DPU_OK = 0,
    DPU_ERR_INTERNAL = 1,
    DPU_ERR_SYSTEM = 2,
    DPU_ERR_DRIVER = 3,
    DPU_ERR_ALLOCATION = 4,
    DPU_ERR_INVALID_DPU_SET = 5,
    DPU_ERR_INVALID_THREAD_ID = 6,
    DPU_ERR_INVALID_NOTIFY_ID = 7,
    DPU_ERR_INVALID_WRAM_ACCESS = 8,
    DPU_ERR_INVALID_IRAM_ACCESS = 9,
    DPU_ERR_INVALID_MRAM_ACCESS = 10,
    DPU_ERR_INVALID_SYMBOL_ACCESS = 11,
    DPU_ERR_MRAM_BUSY = 12,
    DPU_ERR_TRANSFER_ALREADY_SET = 13,
    DPU_ERR_INVALID_PARALLEL_MEMORY_TRANSFER = 14,
    DPU_ERR_WRAM_FIFO_FULL = 15,
    DPU_ERR_NO_PROGRAM_LOADED = 16,
    DPU_ERR_DIFFERENT_DPU_PROGRAMS = 17,
    DPU_ERR_CORRUPTED_MEMORY = 18,
    DPU_ERR_DPU_DISABLED = 19,
    DPU_ERR_DPU_ALREADY_RUNNING = 20,
    DPU_ERR_INVALID_MEMORY_TRANSFER = 21,
    DPU_ERR_INVALID_LAUNCH_POLICY = 22,
    DPU_ERR_DPU_FAULT = 23,
    DPU_ERR_ELF_INVALID_FILE = 24,
    DPU_ERR_ELF_NO_SUCH_FILE = 25,
    DPU_ERR_ELF_NO_SUCH_SECTION = 26,
    DPU_ERR_TIMEOUT = 27,
    DPU_ERR_INVALID_PROFILE = 28,
    DPU_ERR_UNKNOWN_SYMBOL = 29,
    DPU_ERR_LOG_FORMAT = 30,
    DPU_ERR_LOG_CONTEXT_MISSING = 31,
    DPU_ERR_LOG_BUFFER_TOO_SMALL = 32,
    DPU_ERR_VPD_INVALID_FILE = 33,
    DPU_ERR_VPD_NO_REPAIR = 34,
    DPU_ERR_NO_THREAD_PER_RANK = 35,
    DPU_ERR_INVALID_BUFFER_SIZE = 36,
    DPU_ERR_NONBLOCKING_SYNC_CALLBACK = 37,
    DPU_ERR_TOO_MANY_TASKLETS = 38,
    DPU_ERR_SG_TOO_MANY_BLOCKS = 39,
    DPU_ERR_SG_LENGTH_MISMATCH = 40,
    DPU_ERR_SG_NOT_ACTIVATED = 41,
    DPU_ERR_SG_NOT_MRAM_SYMBOL = 42,
    /* set on errors of asynchronous jobs, together with the job's type and its own error */
    DPU_ERR_ASYNC_JOBS = (-0x7fffffff - 1)
} dpu_error_t;

/* The text for a status. The caller frees it. */
char *dpu_error_to_string(dpu_error_t status);

/* Evaluates `statement` once; when it fails, says where and why on stderr, then does `on_error`. */
#define DPU_CHECK(statement, on_error)                                                             \
    do {                                                                                           \
        dpu_error_t __dpu_status = (statement);                                                    \
        if (__dpu_status != DPU_OK) {                                                              \
            char *__dpu_text = dpu_error_to_string(__dpu_status);                                  \
            fprintf(stderr, "%s:%d(%s): DPU Error (%s)\n", __FILE__, __LINE__, __func__,           \
                    __dpu_text);                                                                   \
            free(__dpu_text);                                                                      \
            on_error;                                                                              \
        }                                                                                          \
    } while (0)

#define DPU_ASSERT(statement) DPU_CHECK(statement, exit(EXIT_FAILURE))

#ifdef __cplusplus
}
#endif

#endif
