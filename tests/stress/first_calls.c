/* Sixteen threads make the first calls of several APIs at once; 0 when all of them succeeded. */
#include <pthread.h>
#include <stdio.h>

#include "cuda_runtime_api.h"
#include "cudla.h"
#include "cudla_sim.h"
#include "dpu.h"
#include "nvscibuf.h"
#include "nvscisync.h"

static pthread_barrier_t together;
static int failed;

static void *work(void *argument)
{
    long number = (long)argument;
    char text[300];
    int wrong = 0;
    pthread_barrier_wait(&together);
    if (number % 4 == 0) {
        cudlaDevHandle device;
        uint64_t count;
        wrong = cudlaDeviceGetCount(&count) || cudlaCreateDevice(0, &device, CUDLA_STANDALONE);
    } else if (number % 4 == 1) {
        struct cudaDeviceProp properties;
        void *memory;
        wrong = cudaGetDeviceProperties(&properties, 0) || cudaMalloc(&memory, 100);
    } else if (number % 4 == 2) {
        struct dpu_set_t set;
        wrong = dpu_alloc(1, NULL, &set) || dpu_free(set);
    } else {
        NvSciBufModule buffers;
        NvSciSyncModule events;
        NvSciBufAttrList list;
        wrong = NvSciBufModuleOpen(&buffers) || NvSciBufAttrListCreate(buffers, &list) ||
                NvSciSyncModuleOpen(&events);
    }
    simExplain(text, sizeof text);
    if (wrong)
        __atomic_store_n(&failed, 1, __ATOMIC_SEQ_CST);
    return NULL;
}

int main(void)
{
    pthread_t threads[16];
    pthread_barrier_init(&together, NULL, 16);
    for (long i = 0; i < 16; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < 16; i++)
        pthread_join(threads[i], NULL);
    if (failed) {
        char text[500];
        simExplain(text, sizeof text);
        puts(text);
    }
    return failed;
}
