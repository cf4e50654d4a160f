/*
 * registers_program poll|step|interrupt|mask|undefined
 *
 * The same convolution with no driver at all: the ways in which a program learns that work has
 * ended. Prints "right" when the result is.
 */
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cudla_sim.h"
#include "nvdla/nvdla_inf.h"
#include "small_firmware.h"

static sem_t finished;
static unsigned calls, seen;

static void on_interrupt(void *arg)
{
    uint32_t status = dla_reg_read(arg, GLB_S_INTR_STATUS_0);
    calls++;
    seen |= status;
    dla_reg_write(arg, GLB_S_INTR_STATUS_0, status);
    if (seen & SDP_DONE) {
        sem_post(&finished);
    }
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";
    void *session, *device, *handle, *data[3], *context = simNvdlaContext(0);
    const NvU32 sizes[3] = {BYTES, CHANNELS * CHANNELS, BYTES};
    if (NvDlaInitialize(&session) || NvDlaOpen(session, 0, &device)) {
        return 1;
    }
    for (int i = 0; i < 3; i++) {
        if (NvDlaAllocMem(session, device, &handle, &data[i], sizes[i], NvDlaHeap_System)) {
            return 2;
        }
    }
    fill(data[0], data[1]);
    sem_init(&finished, 0, 0);
    if (strcmp(how, "interrupt") == 0) {
        for (int run = 0; run < 3; run++) {
            seen = 0;
            if (simSetInterruptHandler(0, on_interrupt, context)) {
                return 3;
            }
            memset(data[2], 0, BYTES);
            program(context, (uintptr_t)data[0], (uintptr_t)data[1], (uintptr_t)data[2]);
            struct timespec limit;
            clock_gettime(CLOCK_REALTIME, &limit);
            limit.tv_sec += 20;
            if (sem_timedwait(&finished, &limit) != 0) {
                printf("no interrupt\n");
                return 4;
            }
            printf("%s\n", right(data[0], data[2]) ? "right" : "wrong");
        }
        simSetInterruptHandler(0, NULL, NULL);
        return 0;
    }
    if (strcmp(how, "undefined") == 0) {
        char text[500];
        program(context, 0x1000, (uintptr_t)data[1], (uintptr_t)data[2]);
        simStatus status = simNvdlaStep(0, NULL, NULL);
        simExplain(text, sizeof text);
        printf("%d %s\n", (int)status, text);
    }
    program(context, (uintptr_t)data[0], (uintptr_t)data[1], (uintptr_t)data[2]);
    printf("%s\n", right(data[0], data[2]) ? "computed inside the write" : "not yet");
    if (strcmp(how, "poll") == 0) {
        while (!(dla_reg_read(NULL, GLB_S_INTR_STATUS_0) & SDP_DONE)) {
        }
    } else {
        int moved = 1, up = 0;
        while (moved) {
            if (simNvdlaStep(0, &moved, &up) != simSuccess) {
                return 5;
            }
        }
        printf("line %d status %#x\n", up, (unsigned)dla_reg_read(context, GLB_S_INTR_STATUS_0));
    }
    printf("%s\n", right(data[0], data[2]) ? "right" : "wrong");
    return 0;
}
