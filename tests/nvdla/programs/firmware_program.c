/*
 * A firmware that is not the simulator's, below the simulator's NvDlaSubmit. Entries of the task's
 * address list: input, weights, output. Prints "right" when the result is.
 */
#include <stdio.h>
#include <string.h>

#include "cudla_sim.h"
#include "nvdla/nvdla_inf.h"
#include "small_firmware.h"

static struct {
    void *driver;
    unsigned interrupts, done;
} state;

int32_t dla_register_driver(void **engine_context, void *driver_context)
{
    state.driver = driver_context;
    *engine_context = &state;
    return 0;
}

int32_t dla_execute_task(void *engine_context, void *task_data, void *config_data)
{
    uint64_t address[3], place;
    char head[4];
    (void)engine_context;
    if (*(uint32_t *)config_data != 32) {
        return -3; /* not nv_full */
    }
    for (int16_t i = 0; i < 3; i++) {
        if (dla_get_dma_address(state.driver, task_data, i, &address[i], DESTINATION_DMA) != 0) {
            return -3;
        }
    }
    if (dla_get_dma_address(state.driver, task_data, 1, &place, DESTINATION_PROCESSOR) != 0 ||
        dla_data_read(state.driver, task_data, place, head, 4, 0) != 0 || head[0] != 1) {
        return -3;
    }
    program(state.driver, address[0], address[1], address[2]);
    return 0;
}

int32_t dla_isr_handler(void *engine_context)
{
    uint32_t status = dla_reg_read(state.driver, GLB_S_INTR_STATUS_0);
    (void)engine_context;
    state.interrupts++;
    state.done |= status & SDP_DONE;
    dla_reg_write(state.driver, GLB_S_INTR_STATUS_0, status);
    return 0;
}

int32_t dla_process_events(void *engine_context, uint32_t *task_complete)
{
    (void)engine_context;
    if (state.done) {
        *task_complete = 1;
    }
    return 0;
}

void dla_clear_task(void *engine_context)
{
    (void)engine_context;
    state.done = 0;
}

int main(void)
{
    static NvDlaTask task;
    const NvU32 sizes[3] = {BYTES, CHANNELS * CHANNELS, BYTES};
    void *session, *device, *data[3];
    if (NvDlaInitialize(&session) || NvDlaOpen(session, 0, &device)) {
        return 1;
    }
    task.num_addresses = 3;
    for (int i = 0; i < 3; i++) {
        if (NvDlaAllocMem(session, device, &task.address_list[i].handle, &data[i], sizes[i],
                          NvDlaHeap_System)) {
            return 2;
        }
    }
    fill(data[0], data[1]);
    for (int run = 0; run < 3; run++) {
        memset(data[2], 0, BYTES);
        NvDlaError error = NvDlaSubmit(session, device, &task, 1);
        if (error) {
            char text[500];
            simExplain(text, sizeof text);
            printf("error %#x: %s\n", (unsigned)error, text);
            return 3;
        }
        printf("%s\n", right(data[0], data[2]) ? "right" : "wrong");
    }
    task.num_addresses = 2;
    printf("too few addresses: %#x\n", (unsigned)NvDlaSubmit(NULL, device, &task, 1));
    printf("interrupts %s\n", state.interrupts >= 3 ? "came" : "did not come");
    return 0;
}
