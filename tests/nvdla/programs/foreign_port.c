/*
 * A portability layer that is not the simulator's: it counts, keeps its own bookkeeping of where a
 * buffer is, and reaches the registers by other names. The firmware stays the simulator's.
 * PORT_JUMPS=n in the environment: leave the n-th register write by longjmp.
 */
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudla_sim.h"
#include "nvdla/nvdla_interface.h"

static unsigned reads, writes, copies, addresses;
jmp_buf port_escape;
int port_jumps;

uint32_t dla_reg_read(void *driver_context, uint32_t addr)
{
    (void)driver_context;
    reads++;
    return simNvdlaRead(0, addr);
}

void dla_reg_write(void *driver_context, uint32_t addr, uint32_t reg)
{
    (void)driver_context;
    writes++;
    if (port_jumps > 0 && --port_jumps == 0) {
        longjmp(port_escape, 1);
    }
    simNvdlaWrite(0, addr, reg);
}

int32_t dla_data_read(void *driver_context, void *task_data, uint64_t src, void *dst,
                      uint32_t size, uint64_t offset)
{
    const simNvdlaTask *task = task_data;
    (void)driver_context;
    copies++;
    memcpy(dst, (char *)task->address_list[src - 1000].data + offset, size);
    return 0;
}

int32_t dla_data_write(void *driver_context, void *task_data, void *src, uint64_t dst,
                       uint32_t size, uint64_t offset)
{
    const simNvdlaTask *task = task_data;
    (void)driver_context;
    copies++;
    memcpy((char *)task->address_list[dst - 1000].data + offset, src, size);
    return 0;
}

/* Buffers are named by their position plus 1000: whoever treats the name as an index is wrong. */
int32_t dla_get_dma_address(void *driver_context, void *task_data, int16_t index, void *dst_ptr,
                            uint32_t destination)
{
    const simNvdlaTask *task = task_data;
    uint64_t address = 1000 + (uint64_t)index;
    (void)driver_context;
    addresses++;
    if (index < 0 || (uint32_t)index >= task->num_addresses) {
        return -22;
    }
    if (destination == DESTINATION_DMA) {
        address = (uint64_t)(uintptr_t)task->address_list[index].data +
                  task->address_list[index].offset;
    }
    memcpy(dst_ptr, &address, sizeof address);
    return 0;
}

int64_t dla_get_time_us(void)
{
    return 42;
}

static void report(void)
{
    fprintf(stderr, "port: %u reads, %u writes, %u copies, %u addresses\n", reads, writes, copies,
            addresses);
}

__attribute__((constructor)) static void begin(void)
{
    atexit(report);
}
