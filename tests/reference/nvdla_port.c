/* What a firmware asks of the portability layer below it: where a task's buffers are, a console. */
#define NVDLA_SW_MANUAL /* the two addresses under the names of the software manual */
#include <cudla_sim.h>
#include <nvdla/nvdla_interface.h>

#include <string.h>
#include <unistd.h>

#include "check.h"

static FILE *console;

/* A kernel's log goes to stderr; here a file stands in for it. */
static int begin(void)
{
    int kept = dup(STDERR_FILENO);
    console = tmpfile();
    CHECK(kept >= 0 && console != NULL && dup2(fileno(console), STDERR_FILENO) >= 0);
    return kept;
}

static void end(int kept, char *text, size_t size)
{
    fflush(stderr);
    CHECK(dup2(kept, STDERR_FILENO) >= 0);
    rewind(console);
    text[fread(text, 1, size - 1, console)] = 0;
    fclose(console);
}

int main(void)
{
    static uint8_t image[4096], weights[256];
    simNvdlaAddress buffers[] = {{image, sizeof image, 512}, {weights, sizeof weights, 0}};
    simNvdlaTask task = {2, buffers};
    uint64_t bus, place, first;
    int32_t error;

    /* The engine's address has the entry's offset in it; the processor names the whole buffer. */
    error = dla_read_dma_address(&task, 0, &bus);
    CHECK(error == 0 && bus == (uintptr_t)image + 512);
    error = dla_read_cpu_address(&task, 1, &place);
    CHECK(error == 0);
    weights[100] = 42;
    CHECK(dla_data_read(simNvdlaContext(0), &task, place, &first, 8, 100) == 0 && first == 42);
    CHECK(dla_read_dma_address(&task, 2, &bus) == -22);
    CHECK(dla_read_cpu_address(&task, -1, &place) == -22);

    /* Asked for in the environment, before the first message. */
    char text[500];
    CHECK(setenv("CUDLA_SIM_LOG", "firmware", 1) == 0);
    int kept = begin();
    dla_info("%d buffers\n", (int)task.num_addresses);
    dla_warn("buffer %d is small\n", 1);
    dla_error("no buffer %d\n", 2);
    end(kept, text, sizeof text);
    CHECK(strcmp(text, "2 buffers\nbuffer 1 is small\nno buffer 2\n") == 0);
    puts("ok");
    return 0;
}
