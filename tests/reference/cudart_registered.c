/* What a program registers that NVIDIA's nvcc compiled: a fat binary with PTX, and functions and variables of its own
 * that stand for what is in there. */
#include <crt/host_runtime.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == cudaSuccess)

cudaError_t cudaLaunchKernel_ptsz(const void *func, struct dim3 grid, struct dim3 block, void **args, size_t shared,
                                  cudaStream_t stream);

static const char ptx[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".const .align 4 .b8 factors[16];\n"
    ".visible .global .align 4 .u32 launches;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 sum = 100;\n"
    ".visible .entry _Z5scalePfi(.param .u64 to, .param .u32 count)\n"
    "{\n"
    "    .reg .pred %p<3>; .reg .f32 %f<4>; .reg .b32 %r<8>; .reg .b64 %d<8>;\n"
    "    ld.param.u64 %d1, [to];\n"
    "    ld.param.u32 %r1, [count];\n"
    "    mov.u32 %r2, %ctaid.x;\n"
    "    mov.u32 %r3, %ntid.x;\n"
    "    mov.u32 %r4, %tid.x;\n"
    "    mad.lo.s32 %r5, %r2, %r3, %r4;\n"
    "    setp.ge.s32 %p1, %r5, %r1;\n"
    "    @%p1 bra $end;\n"
    "    and.b32 %r6, %r5, 3;\n"
    "    mul.wide.u32 %d2, %r6, 4;\n"
    "    mov.u64 %d3, factors;\n"
    "    add.s64 %d4, %d3, %d2;\n"
    "    ld.const.f32 %f1, [%d4];\n"
    "    mul.wide.s32 %d5, %r5, 4;\n"
    "    add.s64 %d6, %d1, %d5;\n"
    "    ld.global.f32 %f2, [%d6];\n"
    "    mul.f32 %f3, %f1, %f2;\n"
    "    st.global.f32 [%d6], %f3;\n"
    "    red.global.add.u32 [sum], 1;\n"
    "    setp.ne.s32 %p2, %r5, 0;\n"
    "    @%p2 bra $end;\n"
    "    red.global.add.u32 [launches], 1;\n"
    "$end:\n"
    "    ret;\n"
    "}\n";

/* Of two sources that were linked with each other (nvcc -rdc=true), and of a library of which nothing is wanted. */
static const char caller[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".extern .func (.param .b32 out) square(.param .b32 in);\n"
    ".global .align 4 .u32 own = 7;\n"
    ".entry squares(.param .u64 to)\n"
    "{\n"
    "    .reg .b32 %r<6>; .reg .b64 %d<4>;\n"
    "    ld.param.u64 %d1, [to];\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    { .param .b32 in; .param .b32 out;\n"
    "      st.param.b32 [in], %r1;\n"
    "      call (out), square, (in);\n"
    "      ld.param.b32 %r2, [out]; }\n"
    "    ld.global.u32 %r3, [own];\n"
    "    add.u32 %r4, %r2, %r3;\n"
    "    mad.wide.u32 %d2, %r1, 4, %d1;\n"
    "    st.global.u32 [%d2], %r4;\n"
    "    ret;\n"
    "}\n";
static const char called[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".global .align 4 .u32 own = 1000;\n"
    ".visible .func (.param .b32 out) square(.param .b32 in)\n"
    "{\n"
    "    .reg .b32 %r<5>;\n"
    "    ld.param.b32 %r1, [in];\n"
    "    ld.global.u32 %r2, [own];\n"
    "    mad.lo.u32 %r3, %r1, %r1, %r2;\n"
    "    st.param.b32 [out], %r3;\n"
    "    ret;\n"
    "}\n"
    ".extern .func elsewhere();\n"
    ".visible .func unwanted() { call elsewhere, (); ret; }\n";

struct head {
    uint32_t magic;
    uint16_t version, size;
    uint64_t files;
};
struct entry {
    uint16_t kind, version;
    uint32_t head;
    uint64_t size;
    uint32_t packed, unused;
    uint16_t minor, major;
    uint32_t architecture, name, name_size;
    uint64_t flags, zero, whole;
};
struct wrapper {
    uint32_t magic, version;
    const void *data;
    const void *linked;
};

/* A fat binary with one entry: PTX (1) or code for a GPU (2). */
static void *fat(uint16_t kind, const void *data, size_t size)
{
    size_t room = (size + 7) / 8 * 8;
    char *made = calloc(1, sizeof(struct head) + sizeof(struct entry) + room);
    struct head head = {0xBA55ED50, 1, sizeof head, sizeof(struct entry) + room};
    struct entry entry = {.kind = kind, .version = 0x101, .head = sizeof entry, .size = room, .architecture = 80};
    memcpy(made, &head, sizeof head);
    memcpy(made + sizeof head, &entry, sizeof entry);
    memcpy(made + sizeof head + sizeof entry, data, size);
    return made;
}

/* What the compiler leaves in the program for each of them. */
static char scale, squares, gone, factors[16], launches[4];
static unsigned *sum;

int main(void)
{
    struct wrapper own = {0x466243B1, 1, fat(1, ptx, sizeof ptx), NULL};
    struct wrapper cubin = {0x466243B1, 1, fat(2, "\x7f" "ELF", 4), NULL};
    struct wrapper damaged = {0x466243B1, 1, "no fat binary at all", NULL};
    void **handle = __cudaRegisterFatBinary(&own);
    __cudaRegisterFunction(handle, &scale, (char *)"_Z5scalePfi", "_Z5scalePfi", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterVar(handle, factors, (char *)"factors", "factors", 0, sizeof factors, 1, 0);
    __cudaRegisterVar(handle, launches, (char *)"launches", "launches", 0, sizeof launches, 0, 1);
    __cudaRegisterManagedVar(handle, (void **)&sum, (char *)"sum", "sum", 0, sizeof *sum, 0, 1);
    __cudaRegisterFatBinaryEnd(handle);

    CHECK(__cudaInitModule(handle) && *sum == 100);

    float values[10], given[4] = {1, 2, 3, 4}, *to;
    int count = 10;
    unsigned seen = 7;
    size_t size;
    void *where;
    for (int i = 0; i < 10; i++) values[i] = (float)i;
    CALL(cudaMalloc((void **)&to, sizeof values));
    CALL(cudaMemcpy(to, values, sizeof values, cudaMemcpyHostToDevice));
    CALL(cudaMemcpyToSymbol(factors, given, 8, 0, cudaMemcpyHostToDevice));
    CALL(cudaMemcpyToSymbolAsync(factors, given + 2, 8, 8, cudaMemcpyHostToDevice, NULL));
    void *arguments[] = {&to, &count};
    struct dim3 grid = {3, 1, 1}, block = {4, 1, 1}, large = {2000, 1, 1};
    CALL(cudaLaunchKernel(&scale, grid, block, arguments, 0, NULL));
    CALL(cudaLaunchKernel_ptsz(&scale, grid, block, arguments, 0, NULL));
    CALL(cudaDeviceSynchronize());
    CHECK(*sum == 100 + 2 * 10);
    CALL(cudaMemcpy(values, to, sizeof values, cudaMemcpyDeviceToHost));
    for (int i = 0; i < 10; i++) CHECK(values[i] == (float)i * given[i % 4] * given[i % 4]);
    CALL(cudaMemcpyFromSymbol(&seen, launches, 4, 0, cudaMemcpyDeviceToHost));
    CHECK(seen == 2);
    seen = 0;
    CALL(cudaMemcpyFromSymbolAsync(&seen, launches, 4, 0, cudaMemcpyDeviceToHost, NULL));
    CALL(cudaDeviceSynchronize());
    CHECK(seen == 2);
    CALL(cudaGetSymbolSize(&size, factors));
    CHECK(size == 16);
    CALL(cudaGetSymbolAddress(&where, factors));
    CHECK(where != factors);
    CALL(cudaMemcpy(given, where, 4, cudaMemcpyDeviceToHost));
    CHECK(given[0] == 1);
    CHECK(cudaMemcpyToSymbol(factors, given, 16, 4, cudaMemcpyHostToDevice) == cudaErrorInvalidValue);
    CHECK(cudaMemcpyToSymbol(factors, given, 4, 0, cudaMemcpyDeviceToHost) == cudaErrorInvalidMemcpyDirection);
    CHECK(cudaMemcpyToSymbol(&seen, given, 4, 0, cudaMemcpyHostToDevice) == cudaErrorInvalidSymbol);
    CHECK(cudaGetSymbolAddress(&where, &gone) == cudaErrorInvalidSymbol);

    struct cudaFuncAttributes attributes;
    cudaFunction_t function;
    int fit = 0;
    CALL(cudaFuncGetAttributes(&attributes, &scale));
    CHECK(attributes.maxThreadsPerBlock == 1024);
    CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, &scale, 128, 0));
    CHECK(fit >= 1);
    CALL(cudaGetFuncBySymbol(&function, &scale));
    CHECK(cuLaunchKernel((CUfunction)function, 3, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL) == CUDA_SUCCESS);
    CALL(cudaDeviceSynchronize());
    CHECK(*sum == 130);
    CHECK(cudaGetFuncBySymbol(&function, &gone) == cudaErrorInvalidDeviceFunction);
    CHECK(cudaLaunchKernel(&scale, grid, large, arguments, 0, NULL) == cudaErrorInvalidConfiguration);

    /* Code for a GPU only, and what is no fat binary. */
    void **other = __cudaRegisterFatBinary(&cubin);
    __cudaRegisterFunction(other, &gone, (char *)"gone", "gone", -1, NULL, NULL, NULL, NULL, NULL);
    CHECK(cudaLaunchKernel(&gone, grid, block, NULL, 0, NULL) == cudaErrorNoKernelImageForDevice);
    CHECK(cudaFuncGetAttributes(&attributes, &gone) == cudaErrorNoKernelImageForDevice);
    __cudaUnregisterFatBinary(other);
    other = __cudaRegisterFatBinary(&damaged);
    __cudaRegisterFunction(other, &gone, (char *)"gone", "gone", -1, NULL, NULL, NULL, NULL, NULL);
    CHECK(cudaLaunchKernel(&gone, grid, block, NULL, 0, NULL) == cudaErrorInvalidKernelImage);
    __cudaUnregisterFatBinary(other);
    CHECK(cudaLaunchKernel(&gone, grid, block, NULL, 0, NULL) == cudaErrorInvalidDeviceFunction);

    /* Several that were linked. */
    const void *list[] = {fat(1, caller, sizeof caller), fat(1, called, sizeof called), NULL};
    struct wrapper linked = {0x466243B1, 2, list[0], list};
    unsigned found[4];
    other = __cudaRegisterFatBinary(&linked);
    __cudaRegisterFunction(other, &squares, (char *)"squares", "squares", -1, NULL, NULL, NULL, NULL, NULL);
    CALL(cudaLaunchKernel(&squares, (struct dim3){1, 1, 1}, block, arguments, 0, NULL));
    CALL(cudaMemcpy(found, to, sizeof found, cudaMemcpyDeviceToHost));
    for (unsigned i = 0; i < 4; i++) CHECK(found[i] == i * i + 1007);
    __cudaUnregisterFatBinary(other);

    CALL(cudaFree(to));
    __cudaUnregisterFatBinary(handle);
    puts("ok");
    return 0;
}
