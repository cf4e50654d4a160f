/*
 * The portability layer of the NVDLA kernel-mode driver: what a firmware calls. Memory, time and
 * console are plain C over the task_data that cudla_sim.h describes; registers are the simulated
 * core's.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "boot.h"
#include "cudla_sim.h"
#include "nvdla/nvdla_interface.h"
#include "shared.h"

enum { BAD_ADDRESS = -14, BAD_INDEX = -22 }; /* -EFAULT and -EINVAL, as the Linux driver has them */

void sim_nvdla_explain(const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (sim_enter() == 0) {
        impl_sim_remember(text);
    }
}

/* --- registers -------------------------------------------------------------------------------- */

SIM_EXPORT uint32_t dla_reg_read(void *driver_context, uint32_t addr)
{
    return sim_enter() == 0 ? impl_sim_reg_read((uintptr_t)driver_context, addr) : 0;
}

SIM_EXPORT void dla_reg_write(void *driver_context, uint32_t addr, uint32_t reg)
{
    if (sim_enter() == 0) {
        impl_sim_reg_write((uintptr_t)driver_context, addr, reg);
    }
}

/* --- memory ----------------------------------------------------------------------------------- */

/* `size` bytes at `offset` in buffer `index` of a task, or NULL. */
static void *bytes_of(const char *function, const simNvdlaTask *task, uint64_t index,
                      uint64_t size, uint64_t offset)
{
    if (task == NULL || task->address_list == NULL) {
        sim_nvdla_explain("%s: task_data is NULL; expected a simNvdlaTask", function);
        return NULL;
    }
    if (index >= task->num_addresses) {
        sim_nvdla_explain("%s: buffer %" PRIu64 "; the task has %" PRIu32, function, index,
                          task->num_addresses);
        return NULL;
    }
    const simNvdlaAddress *entry = &task->address_list[index];
    if (entry->data == NULL || offset > entry->size || size > entry->size - offset) {
        sim_nvdla_explain("%s: bytes %" PRIu64 "..%" PRIu64 " of buffer %" PRIu64
                          ", which has %" PRIu64,
                          function, offset, offset + size, index, entry->size);
        return NULL;
    }
    return (char *)entry->data + offset;
}

SIM_EXPORT int32_t dla_data_read(void *driver_context, void *task_data, uint64_t src, void *dst,
                                 uint32_t size, uint64_t offset)
{
    (void)driver_context;
    const void *from = bytes_of("dla_data_read", task_data, src, size, offset);
    if (from == NULL || dst == NULL) {
        return BAD_ADDRESS;
    }
    memcpy(dst, from, size);
    return 0;
}

SIM_EXPORT int32_t dla_data_write(void *driver_context, void *task_data, void *src, uint64_t dst,
                                  uint32_t size, uint64_t offset)
{
    (void)driver_context;
    void *to = bytes_of("dla_data_write", task_data, dst, size, offset);
    if (to == NULL || src == NULL) {
        return BAD_ADDRESS;
    }
    memcpy(to, src, size);
    return 0;
}

SIM_EXPORT int32_t dla_get_dma_address(void *driver_context, void *task_data, int16_t index,
                                       void *dst_ptr, uint32_t destination)
{
    (void)driver_context;
    const simNvdlaTask *task = task_data;
    if (task == NULL || task->address_list == NULL || dst_ptr == NULL) {
        sim_nvdla_explain("dla_get_dma_address: %s is NULL",
                          dst_ptr == NULL ? "dst_ptr" : "task_data");
        return BAD_INDEX;
    }
    if (index < 0 || (uint32_t)index >= task->num_addresses) {
        sim_nvdla_explain("dla_get_dma_address: index is %d; the task has %" PRIu32 " addresses",
                          index, task->num_addresses);
        return BAD_INDEX;
    }
    const simNvdlaAddress *entry = &task->address_list[index];
    uint64_t address;
    if (destination == DESTINATION_PROCESSOR) {
        address = (uint64_t)index;
    } else if (destination == DESTINATION_DMA) {
        address = (uint64_t)(uintptr_t)entry->data + entry->offset;
    } else {
        sim_nvdla_explain("dla_get_dma_address: destination is %" PRIu32
                          "; DESTINATION_PROCESSOR (0) or DESTINATION_DMA (1) expected",
                          destination);
        return BAD_INDEX;
    }
    memcpy(dst_ptr, &address, sizeof address);
    return 0;
}

SIM_EXPORT int32_t dla_read_dma_address(void *task_desc, int16_t index, void *dst)
{
    return dla_get_dma_address(NULL, task_desc, index, dst, DESTINATION_DMA);
}

SIM_EXPORT int32_t dla_read_cpu_address(void *task_desc, int16_t index, void *dst)
{
    return dla_get_dma_address(NULL, task_desc, index, dst, DESTINATION_PROCESSOR);
}

SIM_EXPORT void *dla_memset(void *src, int ch, uint64_t len)
{
    return src != NULL ? memset(src, ch, len) : NULL;
}

SIM_EXPORT void *dla_memcpy(void *dest, const void *src, uint64_t len)
{
    return dest != NULL && src != NULL ? memcpy(dest, src, len) : dest;
}

/* --- time and console ------------------------------------------------------------------------- */

SIM_EXPORT int64_t dla_get_time_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

/* A kernel log is not the program's output: warnings and errors go to stderr, the rest on wish. */
static int chatty(void)
{
    static int known = -1;
    int found = __atomic_load_n(&known, __ATOMIC_RELAXED);
    if (found < 0) {
        const char *wish = getenv("CUDLA_SIM_LOG");
        found = wish != NULL && strstr(wish, "firmware") != NULL;
        __atomic_store_n(&known, found, __ATOMIC_RELAXED);
    }
    return found;
}

#define CONSOLE(name, shown) \
    SIM_EXPORT void name(const char *str, ...) \
    { \
        if (str != NULL && (shown)) { \
            va_list arguments; \
            va_start(arguments, str); \
            vfprintf(stderr, str, arguments); \
            va_end(arguments); \
        } \
    }

CONSOLE(dla_debug, chatty())
CONSOLE(dla_info, chatty())
CONSOLE(dla_warn, 1)
CONSOLE(dla_error, 1)

/* --- whose portability layer is it? ----------------------------------------------------------- */

#define OWN(name) \
    extern __typeof(name) own_##name __attribute__((alias(#name), visibility("hidden")))

OWN(dla_reg_read);
OWN(dla_reg_write);
OWN(dla_data_read);
OWN(dla_data_write);
OWN(dla_get_dma_address);
OWN(dla_get_time_us);

/* The exported name means whatever comes first in the program; the hidden twin is always ours.
   volatile: the compiler may not decide this. */
#define IS_FOREIGN(name) \
    ({ \
        void *volatile exported_ = (void *)name; \
        void *volatile own_ = (void *)own_##name; \
        exported_ != own_; \
    })

int sim_nvdla_foreign_port(void)
{
    return IS_FOREIGN(dla_reg_read) || IS_FOREIGN(dla_reg_write) || IS_FOREIGN(dla_data_read) ||
           IS_FOREIGN(dla_data_write) || IS_FOREIGN(dla_get_dma_address) ||
           IS_FOREIGN(dla_get_time_us);
}
