"""The host programs of the boot tests."""

HEAD = r"""
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "cudla.h"
#include "cudla_sim.h"
#include "nvscisync.h"
"""

VERSION = (
    HEAD
    + r"""
int main(void)
{
    uint64_t version = 0;
    int status = cudlaGetVersion(&version);
    char why[512];
    simExplain(why, sizeof why);
    printf("%d %llu %s\n", status, (unsigned long long)version, why);
    return 0;
}
"""
)

DLOPEN_LOCAL = (
    HEAD
    + r"""
int main(int argc, char **argv)
{
    (void)argc;
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        puts(dlerror());
        return 1;
    }
    cudlaStatus (*get)(uint64_t *) = (cudlaStatus(*)(uint64_t *))dlsym(library, "cudlaGetVersion");
    cudlaStatus (*count)(uint64_t *) =
        (cudlaStatus(*)(uint64_t *))dlsym(library, "cudlaDeviceGetCount");
    uint64_t version = 0, cores = 0;
    int status = get(&version);
    printf("%d %llu", status, (unsigned long long)version);
    status = count(&cores);
    printf(" %d %llu\n", status, (unsigned long long)cores);
    dlclose(library);
    status = get(&version); /* -z nodelete: the code is still there */
    printf("%d\n", status);
    return 0;
}
"""
)

WEAK = (
    HEAD
    + r"""
#pragma weak cudlaGetVersion
int main(void)
{
    uint64_t version = 0;
    if (cudlaGetVersion == NULL) {
        puts("absent");
        return 0;
    }
    int status = cudlaGetVersion(&version);
    printf("%d %llu\n", status, (unsigned long long)version);
    return 0;
}
"""
)

RACE = (
    HEAD
    + r"""
static pthread_barrier_t start;
static int wrong;
static void *first_call(void *arg)
{
    uint64_t version = 0;
    (void)arg;
    pthread_barrier_wait(&start);
    for (int i = 0; i < 50; i++) {
        if (cudlaGetVersion(&version) != cudlaSuccess || version != 1005000u) {
            __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
        }
    }
    return NULL;
}
int main(void)
{
    pthread_t threads[16];
    pthread_barrier_init(&start, NULL, 16);
    for (int i = 0; i < 16; i++) pthread_create(&threads[i], NULL, first_call, NULL);
    for (int i = 0; i < 16; i++) pthread_join(threads[i], NULL);
    printf("wrong %d\n", wrong);
    return 0;
}
"""
)

FORK = (
    HEAD
    + r"""
static int stop;
static void *busy(void *arg)
{
    uint64_t n;
    (void)arg;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED)) cudlaDeviceGetCount(&n);
    return NULL;
}
int main(void)
{
    pthread_t thread;
    cudlaDevHandle parent = NULL, own = NULL;
    cudlaCreateDevice(0, &parent, CUDLA_STANDALONE);
    pthread_create(&thread, NULL, busy, NULL);
    int good = 0;
    for (int i = 0; i < 10; i++) {
        pid_t child = fork();
        if (child == 0) {
            char why[512];
            int stale = cudlaDestroyDevice(parent);
            simExplain(why, sizeof why);
            int status = cudlaCreateDevice(0, &own, CUDLA_STANDALONE);
            _exit(stale == cudlaErrorInvalidDevice && strstr(why, "fork") != NULL &&
                          status == cudlaSuccess && cudlaDestroyDevice(own) == cudlaSuccess
                      ? 42
                      : 1);
        }
        int how = 0;
        waitpid(child, &how, 0);
        good += WIFEXITED(how) && WEXITSTATUS(how) == 42;
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(thread, NULL);
    printf("children %d, parent's handle %d\n", good, (int)cudlaDestroyDevice(parent));
    return 0;
}
"""
)

# A thread of the host and an engine's worker are inside the library while main returns.
EXIT_BUSY = (
    HEAD
    + r"""
static void *waiting(void *arg)
{
    NvSciSyncFenceWait(((void **)arg)[0], ((void **)arg)[1], -1);
    return NULL;
}
static void *calling(void *arg)
{
    uint64_t n;
    (void)arg;
    for (;;) cudlaDeviceGetCount(&n);
    return NULL;
}
static void last(void)
{
    uint64_t n = 0;
    printf("atexit %d\n", (int)cudlaDeviceGetCount(&n));
}
int main(void)
{
    atexit(last);
    NvSciSyncModule module;
    NvSciSyncAttrList list, conflict;
    NvSciSyncObj obj;
    static NvSciSyncFence fence;
    NvSciSyncCpuWaitContext context;
    bool cpu = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_WaitSignal;
    NvSciSyncAttrKeyValuePair pairs[] = {
        {NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm},
    };
    int status = NvSciSyncModuleOpen(&module);
    status |= NvSciSyncAttrListCreate(module, &list);
    status |= NvSciSyncAttrListSetAttrs(list, pairs, 2);
    status |= NvSciSyncAttrListReconcileAndObjAlloc(&list, 1, &obj, &conflict);
    status |= NvSciSyncCpuWaitContextAlloc(module, &context);
    status |= NvSciSyncObjGenerateFence(obj, &fence);
    static void *arguments[2];
    arguments[0] = &fence;
    arguments[1] = context;
    pthread_t threads[2];
    pthread_create(&threads[0], NULL, waiting, arguments);
    pthread_create(&threads[1], NULL, calling, NULL);
    usleep(100000);
    printf("leaving %d\n", status);
    return 7;
}
"""
)

# Python text in between C text, through one pipe.
STDOUT_ORDER = (
    HEAD
    + r"""
int main(void)
{
    printf("one\n");
    simWarmup();
    int (*run)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "PyRun_SimpleString");
    int (*ensure)(void) = (int (*)(void))dlsym(RTLD_DEFAULT, "PyGILState_Ensure");
    void (*release)(int) = (void (*)(int))dlsym(RTLD_DEFAULT, "PyGILState_Release");
    for (int i = 0; i < 3; i++) {
        int gil = ensure();
        run("print('python')");
        release(gil);
        printf("c\n");
    }
    return 0;
}
"""
)

# What the boot must not change: signal handlers and the locale.
UNTOUCHED = (
    HEAD
    + r"""
int main(void)
{
    struct sigaction before[32], after;
    for (int s = 1; s < 32; s++) sigaction(s, NULL, &before[s]);
    char *locale = strdup(setlocale(LC_ALL, NULL));
    uint64_t n;
    cudlaDeviceGetCount(&n);
    int changed = strcmp(locale, setlocale(LC_ALL, NULL)) != 0;
    for (int s = 1; s < 32; s++) {
        sigaction(s, NULL, &after);
        changed += after.sa_handler != before[s].sa_handler;
    }
    printf("changed %d\n", changed);
    return 0;
}
"""
)

# C++: calls from a static constructor and destructor, and an exception across our frames' caller.
STATIC_OBJECTS = (
    HEAD
    + r"""
struct Early {
    int status;
    Early() { uint64_t v; status = cudlaGetVersion(&v); }
    ~Early() { uint64_t v; printf("destructor %d\n", (int)cudlaGetVersion(&v)); }
};
static Early early;
int main()
{
    try {
        uint64_t v;
        if (cudlaGetVersion(&v) == cudlaSuccess) throw 5;
    } catch (int number) {
        printf("caught %d, constructor %d\n", number, early.status);
    }
    return 0;
}
"""
)

# A DLA task waits for a fence that nobody will signal, another one is computing: main just returns.
EXIT_WITH_BUSY_ENGINE = (
    HEAD
    + r"""
#include "cuda_runtime_api.h"
#include "nvscibuf.h"
#define CHECK(call) do { \
    int s_ = (int)(call); \
    if (s_) { printf("%s %d\n", #call, s_); return 1; } \
} while (0)
static unsigned char image[1 << 16];
int main(int argc, char **argv)
{
    (void)argc;
    FILE *file = fopen(argv[1], "rb");
    size_t size = file ? fread(image, 1, sizeof image, file) : 0;
    cudlaDevHandle device;
    cudlaModule module;
    cudaStream_t stream;
    void *memory;
    uint64_t *registered;
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0));
    CHECK(cudaMalloc(&memory, 1 << 16));
    CHECK(cudlaMemRegister(device, memory, 1 << 16, &registered, 0));
    const uint64_t *inputs[] = {registered};
    uint64_t *outputs[] = {registered};
    cudlaTask task = {.moduleHandle = module, .inputTensor = inputs, .numInputTensors = 1,
                      .outputTensor = outputs, .numOutputTensors = 1};
    for (int i = 0; i < 500; i++) CHECK(cudlaSubmitTask(device, &task, 1, stream, 0));

    NvSciSyncModule sync_module;
    NvSciSyncAttrList lists[2], conflict;
    NvSciSyncObj obj;
    NvSciSyncFence fence = NvSciSyncFenceInitializer;
    cudlaDevHandle waiting;
    uint64_t *semaphore;
    bool cpu = true;
    NvSciSyncAccessPerm perm = NvSciSyncAccessPerm_SignalOnly;
    NvSciSyncAttrKeyValuePair pairs[] = {{NvSciSyncAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
                                         {NvSciSyncAttrKey_RequiredPerm, &perm, sizeof perm}};
    CHECK(NvSciSyncModuleOpen(&sync_module));
    CHECK(NvSciSyncAttrListCreate(sync_module, &lists[0]));
    CHECK(NvSciSyncAttrListCreate(sync_module, &lists[1]));
    CHECK(NvSciSyncAttrListSetAttrs(lists[0], pairs, 2));
    CHECK(cudlaGetNvSciSyncAttributes((uint64_t *)lists[1], CUDLA_NVSCISYNC_ATTR_WAIT));
    CHECK(NvSciSyncAttrListReconcileAndObjAlloc(lists, 2, &obj, &conflict));
    CHECK(cudlaCreateDevice(1, &waiting, CUDLA_STANDALONE));
    cudlaExternalSemaphoreHandleDesc desc = {.extSyncObject = obj};
    CHECK(cudlaImportExternalSemaphore(waiting, &desc, &semaphore, 0));
    CHECK(NvSciSyncObjGenerateFence(obj, &fence));
    CudlaFence pre = {.fence = &fence, .type = CUDLA_NVSCISYNC_FENCE};
    cudlaWaitEvents waits = {.preFences = &pre, .numEvents = 1};
    cudlaTask events = {.waitEvents = &waits};
    CHECK(cudlaSubmitTask(waiting, &events, 1, NULL, 0));
    puts("leaving");
    return 9;
}
"""
)
