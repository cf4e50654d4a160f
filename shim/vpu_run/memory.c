/* What a worker maps of its host: the control file and the memories of the PVA. */
#include "rt.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

struct pva_reply *rt_reply;
const char *rt_control;
struct pva_memory rt_memory;

static void *map(int file, size_t size)
{
    void *at = mmap(0, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
    if (at == MAP_FAILED)
        _exit(122);
    return at;
}

char *rt_memory_setup(char **words)
{
    char *control = map(atoi(words[0]), PVA_CONTROL_SIZE);
    rt_control = control;
    rt_reply = (struct pva_reply *)control;
    rt_reply->status = PVA_DONE;
    rt_image_setup(atoi(words[1]));
    rt_memory.base[PVA_VMEM] = (uint8_t *)(uintptr_t)PVA_VMEM_WINDOW;
    rt_memory.size[PVA_VMEM] = PVA_VMEM_SIZE;
    rt_memory.size[PVA_DRAM] = strtoull(words[5], 0, 10);
    rt_memory.size[PVA_L2] = strtoull(words[6], 0, 10);
    rt_memory.base[PVA_DRAM] = map(atoi(words[2]), rt_memory.size[PVA_DRAM]);
    rt_memory.base[PVA_L2] = map(atoi(words[3]), rt_memory.size[PVA_L2]);
    for (int file = 0; file < 4; file++) /* they are mapped; a kernel has no use for them */
        close(atoi(words[file]));
    return control;
}
