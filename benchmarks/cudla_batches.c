/* Times inferences that do not depend on each other and prints `name value` lines, milliseconds of
 * CPU time each; benchmarks/cudla_inference.py reads them. Argument: a loadable. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda_runtime_api.h"
#include "cudla.h"

#define CHECK(call)                                                        \
    do {                                                                   \
        int status_ = (int)(call);                                         \
        if (status_ != 0) {                                                \
            fprintf(stderr, "%s answered %#x\n", #call, (unsigned)status_); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

enum { BATCH = 16, WARM = 6, ROUNDS = 40 };

static cudlaDevHandle device;
static cudlaTask tasks[BATCH];

static double cpu_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static uint64_t *tensor(uint64_t size)
{
    void *memory;
    uint64_t *registered;
    CHECK(cudaMalloc(&memory, size));
    CHECK(cudlaMemRegister(device, memory, size, &registered, 0));
    return registered;
}

static uint64_t size_of(cudlaModule module, cudlaModuleAttributeType type)
{
    cudlaModuleTensorDescriptor tensors[8];
    cudlaModuleAttribute attribute;
    memset(tensors, 0, sizeof tensors);
    attribute.inputTensorDesc = tensors;
    CHECK(cudlaModuleGetAttributes(module, type, &attribute));
    return tensors[0].size;
}

static void each_waited_for(void)
{
    for (int i = 0; i < BATCH; i++) {
        CHECK(cudlaSubmitTask(device, &tasks[i], 1, NULL, 0));
        CHECK(cudaStreamSynchronize(NULL));
    }
}

static void in_flight(void)
{
    for (int i = 0; i < BATCH; i++)
        CHECK(cudlaSubmitTask(device, &tasks[i], 1, NULL, 0));
    CHECK(cudaStreamSynchronize(NULL));
}

static void one_submission(void)
{
    CHECK(cudlaSubmitTask(device, tasks, BATCH, NULL, 0));
    CHECK(cudaStreamSynchronize(NULL));
}

static void measure(const char *name, void (*run)(void))
{
    double times[ROUNDS];
    for (int i = 0; i < WARM; i++)
        run();
    for (int i = 0; i < ROUNDS; i++) {
        double begin = cpu_ms();
        run();
        times[i] = (cpu_ms() - begin) / BATCH;
    }
    qsort(times, ROUNDS, sizeof *times, ascending);
    printf("%s %.4f\n", name, times[ROUNDS / 2]);
}

int main(int count, char **arguments)
{
    static const uint64_t *inputs[BATCH][1];
    static uint64_t *outputs[BATCH][1];
    static uint8_t image[64 << 20];
    FILE *file = count == 2 ? fopen(arguments[1], "rb") : NULL;
    if (file == NULL)
        return 2;
    size_t size = fread(image, 1, sizeof image, file);
    fclose(file);
    cudlaModule module;
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0));
    for (int i = 0; i < BATCH; i++) {
        inputs[i][0] = tensor(size_of(module, CUDLA_INPUT_TENSOR_DESCRIPTORS));
        outputs[i][0] = tensor(size_of(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS));
        tasks[i].moduleHandle = module;
        tasks[i].numInputTensors = tasks[i].numOutputTensors = 1;
        tasks[i].inputTensor = inputs[i];
        tasks[i].outputTensor = outputs[i];
    }
    measure("each_ms", each_waited_for);
    measure("in_flight_ms", in_flight);
    measure("one_submission_ms", one_submission);
    return 0;
}
