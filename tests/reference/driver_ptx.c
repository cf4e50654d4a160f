/* Modules of PTX: loaded, linked with each other, refused. */
#include <cuda.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)
#define HEAD ".version 8.0\n.target sm_87\n.address_size 64\n"

enum { THREADS = 48 };

/* Each thread takes its mirror image's number out of shared memory, and what a table says by its rest. */
static const char mirror[] =
    "// a comment { that is no brace\n" HEAD
    ".visible .const .align 4 .b8 table[16] = {1, 0, 0, 0, 2, 0, 0, 0, 3};\n"
    ".visible .global .align 4 .u32 seen = 5;\n"
    ".global .align 8 .u64 place[2] = {seen, table+4};\n"
    ".extern .shared .align 4 .b8 line[];\n"
    ".func (.param .b32 out) twice(.param .b32 in)\n"
    "{\n"
    "    .reg .b32 %r<3>;\n"
    "    ld.param.b32 %r1, [in];\n"
    "    shl.b32 %r2, %r1, 1;\n"
    "    st.param.b32 [out+0], %r2;\n"
    "    ret;\n"
    "}\n"
    ".func (.param .b32 out) less(.param .b32 in)\n"
    "{\n"
    "    .reg .b32 %r<3>;\n"
    "    ld.param.b32 %r1, [in];\n"
    "    sub.s32 %r2, %r1, 7;\n"
    "    st.param.b32 [out+0], %r2;\n"
    "    ret;\n"
    "}\n"
    ".visible .entry mirror(.param .u64 .ptr .align 4 to, .param .align 4 .b8 how[8])\n"
    ".maxntid 64, 1, 1\n"
    "{\n"
    "    .reg .pred %p<4>;\n"
    "    .reg .b32 %r<20>;\n"
    "    .reg .b64 %d<12>;\n"
    "    .shared .align 4 .b8 own[256];\n"
    "    .local .align 4 .b8 depot[8];\n"
    "    ld.param.u64 %d1, [to];\n"
    "    ld.param.v2.u32 {%r1, %r2}, [how]; // how many threads, what is added\n"
    "    mov.u32 %r3, %tid.x;\n"
    "    mov.u32 %r4, own;\n"
    "    mad.lo.s32 %r5, %r3, 4, %r4;\n"
    "    mul.lo.s32 %r6, %r3, %r3;\n"
    "    st.shared.u32 [%r5], %r6;\n"
    "    mov.u64 %d2, line;\n"
    "    mad.wide.u32 %d3, %r3, 4, %d2;\n"
    "    st.shared.u32 [%d3], %r3;\n"
    "    bar.sync 0;\n"
    "    shl.b32 %r7, %r3, 2;\n"
    "    sub.s32 %r8, %r4, %r7;\n" /* registers alone may be before what is addressed */
    "    ld.shared.u32 %r9, [%r8+188];\n"
    "    cvt.u32.u64 %r12, %d3;\n"
    "    sub.s32 %r12, %r12, 4000;\n"
    "    ld.shared.u32 %r13, [%r12+4000];\n"
    "    sub.s64 %d4, %d3, 4000;\n"
    "    ld.shared.u32 %r10, [%d4+4000];\n"
    "    add.s32 %r9, %r9, %r10;\n"
    "    sub.s32 %r13, %r13, %r10;\n"
    "    add.s32 %r9, %r9, %r13;\n"
    "    rem.u32 %r11, %r3, 3;\n"
    "    brx.idx %r11, ways;\n"
    "    ways: .branchtargets first, second, third;\n"
    "first:\n"
    "    bra.uni done;\n"
    "second:\n"
    "    { .param .b32 given;\n"
    "      st.param.b32 [given], %r9;\n"
    "      .param .b32 got;\n"
    "      call.uni (got), twice, (given);\n"
    "      ld.param.b32 %r9, [got]; }\n"
    "    bra done;\n"
    "third:\n"
    "    {\n"
    "    .reg .b64 %d<2>;\n"
    "    .param .b32 given;\n"
    "    .param .b32 got;\n"
    "    setp.gt.u32 %p1, %r3, 20;\n"
    "    mov.u64 %d0, twice;\n"
    "    mov.u64 %d1, less;\n"
    "    selp.b64 %d0, %d0, %d1, %p1;\n"
    "    st.param.b32 [given], %r9;\n"
    "    kind: .callprototype (.param .b32 _) _ (.param .b32 _);\n"
    "    call (got), %d0, (given), kind;\n"
    "    ld.param.b32 %r9, [got];\n"
    "    }\n"
    "done:\n"
    "    mov.u64 %d4, place;\n"
    "    ld.global.u64 %d5, [%d4+8];\n"
    "    ld.u32 %r12, [%d5]; // table[1]\n"
    "    ld.const.u32 %r13, [table+8];\n"
    "    add.s32 %r9, %r9, %r12;\n"
    "    mad.lo.s32 %r9, %r13, %r2, %r9;\n"
    "    mov.u64 %d6, depot;\n"
    "    st.local.u32 [%d6+4], %r9;\n"
    "    ld.local.u32 %r14, [depot+4];\n"
    "    mad.wide.u32 %d7, %r3, 4, %d1;\n"
    "    st.global.u32 [%d7], %r14;\n"
    "    setp.ne.s32 %p2, %r3, 0;\n"
    "    @%p2 ret;\n"
    "    ld.global.u64 %d8, [place];\n"
    "    atom.global.add.u32 %r15, [%d8], %r1;\n"
    "    ret;\n"
    "}\n";

static const char user[] = HEAD
    ".extern .func (.param .f32 out) power(.param .f32 base, .param .b32 exponent);\n"
    ".extern .global .align 4 .f32 scale;\n"
    ".visible .entry raise(.param .u64 to)\n"
    "{\n"
    "    .reg .f32 %f<4>; .reg .b32 %r<3>; .reg .b64 %d<4>;\n"
    "    .param .f32 base; .param .b32 exponent; .param .f32 got;\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    st.param.f32 [base], 0f40000000;\n"
    "    st.param.b32 [exponent], %r1;\n"
    "    call (got), power, (base, exponent);\n"
    "    ld.param.f32 %f1, [got];\n"
    "    ld.global.f32 %f2, [scale];\n"
    "    mul.f32 %f3, %f1, %f2;\n"
    "    ld.param.u64 %d1, [to];\n"
    "    mad.wide.u32 %d2, %r1, 4, %d1;\n"
    "    st.f32 [%d2], %f3;\n"
    "    ret;\n"
    "}\n";
static const char maker[] = HEAD
    ".visible .global .align 4 .f32 scale = 0f3F000000;\n"
    ".visible .func (.param .f32 out) power(.param .f32 base, .param .b32 exponent)\n"
    "{\n"
    "    .reg .f32 %f<3>; .reg .b32 %r<2>; .reg .pred %p;\n"
    "    ld.param.f32 %f1, [base];\n"
    "    ld.param.u32 %r1, [exponent];\n"
    "    mov.f32 %f2, 0f3F800000;\n"
    "again:\n"
    "    setp.eq.u32 %p, %r1, 0;\n"
    "    @!%p mul.f32 %f2, %f2, %f1;\n"
    "    @!%p add.u32 %r1, %r1, -1;\n"
    "    @!%p bra again;\n"
    "    st.param.f32 [out], %f2;\n"
    "    ret;\n"
    "}\n";
/* Twice: each writes, all arrive, each reads its neighbour's; by the state and then by the parity of a phase. */
static const char phases[] = HEAD
    ".visible .entry phases(.param .u64 to)\n"
    "{\n"
    "    .shared .align 8 .b64 meeting; .shared .align 4 .b32 line[32];\n"
    "    .reg .b32 %r<12>; .reg .b64 %d<8>; .reg .pred %p<4>;\n"
    "    mov.u32 %r1, %tid.x;\n"
    "    mov.u32 %r2, meeting;\n"
    "    setp.ne.u32 %p1, %r1, 0;\n"
    "    @%p1 bra ready;\n"
    "    mbarrier.init.shared.b64 [%r2], 32;\n"
    "ready:\n"
    "    bar.sync 0;\n"
    "    mov.u32 %r3, line;\n"
    "    mad.lo.u32 %r4, %r1, 4, %r3;\n"
    "    add.u32 %r5, %r1, 1;\n"
    "    and.b32 %r5, %r5, 31;\n"
    "    mad.lo.u32 %r6, %r5, 4, %r3;\n"
    "    mul.lo.u32 %r7, %r1, 3;\n"
    "    st.shared.u32 [%r4], %r7;\n"
    "    mbarrier.arrive.shared.b64 %d1, [%r2];\n"
    "first:\n"
    "    mbarrier.test_wait.shared.b64 %p2, [%r2], %d1;\n"
    "    @!%p2 bra first;\n"
    "    ld.shared.u32 %r8, [%r6];\n"
    "    bar.sync 0;\n"
    "    add.u32 %r9, %r8, 1000;\n"
    "    st.shared.u32 [%r4], %r9;\n"
    "    mbarrier.arrive.release.cta.shared.b64 _, [meeting];\n"
    "second:\n"
    "    mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r2], 1;\n"
    "    @!%p3 bra second;\n"
    "    ld.shared.u32 %r10, [%r6];\n"
    "    ld.param.u64 %d2, [to];\n"
    "    mad.wide.u32 %d3, %r1, 4, %d2;\n"
    "    st.u32 [%d3], %r10;\n"
    "    ret;\n"
    "}\n";
static const char unknown[] = HEAD ".visible .entry k()\n{\n    wgmma.fence.sync.aligned;\n    ret;\n}\n";
static const char broken[] = HEAD ".visible .entry k(\n";

static void runs(void)
{
    struct {
        unsigned threads, added;
    } how = {THREADS, 10};
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr to, seen, table;
    size_t size;
    unsigned results[THREADS], count;
    CALL(cuModuleLoadData(&module, mirror));
    CALL(cuModuleGetFunction(&kernel, module, "mirror"));
    CALL(cuMemAlloc(&to, sizeof results));
    void *arguments[] = {&to, &how};
    CALL(cuLaunchKernel(kernel, 1, 1, 1, THREADS, 1, 1, 4 * THREADS, NULL, arguments, NULL));
    CALL(cuMemcpyDtoH(results, to, sizeof results));
    for (unsigned i = 0; i < THREADS; i++) {
        unsigned other = THREADS - i - 1, value = other * other + i;
        if (i % 3 == 1 || (i % 3 == 2 && i > 20)) value *= 2;
        else if (i % 3 == 2) value -= 7;
        CHECK(results[i] == value + 2 + 3 * 10);
    }
    CALL(cuModuleGetGlobal(&seen, &size, module, "seen"));
    CHECK(size == 4);
    CALL(cuMemcpyDtoH(&count, seen, 4));
    CHECK(count == 5 + THREADS);
    CALL(cuModuleGetGlobal(&table, &size, module, "table"));
    CHECK(size == 16);
    CHECK(cuModuleGetFunction(&kernel, module, "twice") == CUDA_ERROR_NOT_FOUND);
    CALL(cuMemFree(to));
    CALL(cuModuleUnload(module));
}

static void meets(void)
{
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr to;
    unsigned results[32];
    CALL(cuModuleLoadData(&module, phases));
    CALL(cuModuleGetFunction(&kernel, module, "phases"));
    CALL(cuMemAlloc(&to, sizeof results));
    void *arguments[] = {&to};
    CALL(cuLaunchKernel(kernel, 3, 1, 1, 32, 1, 1, 0, NULL, arguments, NULL));
    CALL(cuMemcpyDtoH(results, to, sizeof results));
    for (unsigned i = 0; i < 32; i++) CHECK(results[i] == (i + 2) % 32 * 3 + 1000);
    CALL(cuMemFree(to));
    CALL(cuModuleUnload(module));
}

static void is_linked(void)
{
    CUlinkState state;
    CUmodule module;
    CUfunction kernel;
    CUdeviceptr to;
    void *image;
    size_t size;
    float results[4];
    char information[64] = "untouched", error[64] = "untouched";
    float wall = -1;
    CUjit_option options[] = {CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, CU_JIT_ERROR_LOG_BUFFER,
                              CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_WALL_TIME};
    void *values[] = {information, (void *)sizeof information, error, (void *)sizeof error, NULL};
    CALL(cuLinkCreate(5, options, values, &state));
    CALL(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)user, sizeof user, "user", 0, NULL, NULL));
    CALL(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void *)maker, sizeof maker, "maker", 0, NULL, NULL));
    CALL(cuLinkComplete(state, &image, &size));
    memcpy(&wall, &values[4], sizeof wall);
    CHECK(wall >= 0);
    CHECK(size > 0 && information[0] == '\0' && error[0] == '\0');
    CALL(cuModuleLoadData(&module, image));
    CALL(cuLinkDestroy(state));
    CALL(cuModuleGetFunction(&kernel, module, "raise"));
    CALL(cuMemAlloc(&to, sizeof results));
    void *arguments[] = {&to};
    CALL(cuLaunchKernel(kernel, 1, 1, 1, 4, 1, 1, 0, NULL, arguments, NULL));
    CALL(cuMemcpyDtoH(results, to, sizeof results));
    CHECK(results[0] == 0.5f && results[1] == 1 && results[2] == 2 && results[3] == 4);
    CALL(cuModuleUnload(module));
}

static void is_refused(void)
{
    CUmodule module = NULL;
    char error[256] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {error, (void *)sizeof error};
    CHECK(cuModuleLoadDataEx(&module, unknown, 2, options, values) == CUDA_ERROR_INVALID_PTX);
    CHECK(strstr(error, "wgmma") != NULL);
    CHECK(cuModuleLoadData(&module, broken) == CUDA_ERROR_INVALID_PTX);
    CHECK(cuModuleLoadData(&module, user) == CUDA_ERROR_INVALID_PTX); /* its function is in another one */
    CHECK(module == NULL);
}

int main(void)
{
    CUdevice device;
    CUcontext context;
    CALL(cuInit(0));
    CALL(cuDeviceGet(&device, 0));
    CALL(cuCtxCreate(&context, 0, device));
    runs();
    meets();
    is_linked();
    is_refused();
    CALL(cuCtxDestroy(context));
    puts("ok");
    return 0;
}
