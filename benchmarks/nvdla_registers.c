/* NVDLA registers from C: the cost of one write and of one read, in microseconds of CPU time. */
#include <stdio.h>
#include <time.h>

#include "cudla_sim.h"
#include "nvdla/nvdla_interface.h"
#include "nvdla/opendla.h"

enum { ACCESSES = 200000 };

static double microseconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(void)
{
    void *context = simNvdlaContext(0);
    dla_reg_write(context, SDP_S_POINTER_0, 0); /* boots, finds the core */
    double begin = microseconds();
    for (unsigned i = 0; i < ACCESSES; i++) {
        dla_reg_write(context, SDP_D_DST_LINE_STRIDE_0, i << 5);
    }
    double middle = microseconds();
    uint32_t sum = 0;
    for (unsigned i = 0; i < ACCESSES; i++) {
        sum += dla_reg_read(context, SDP_D_DST_LINE_STRIDE_0);
    }
    double end = microseconds();
    printf("write_us %f\n", (middle - begin) / ACCESSES);
    printf("read_us %f\n", (end - middle) / ACCESSES);
    return sum == 0;
}
