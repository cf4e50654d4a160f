/* cuGetExportTable: what NVIDIA's static runtime wants of a driver beside its public functions. Nothing of it is
 * documented; the names and the order of the entries are those that the public ZLUDA project (its dark_api) gives. Every
 * call of that runtime asks for the storage of its context, so that is here and not in Python. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "cuda/cuda.h"
#include "generated/hand_written.h"
#include "internal.h"

extern CUresult sim__cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device);
extern CUresult sim__cuDevicePrimaryCtxRelease_v2(CUdevice device);

typedef void (*entry)(void);
#define ENTRY(function) ((entry)(void *)(function))

/* --- CONTEXT_LOCAL_STORAGE: what the runtime keeps for a context ---------------------------------------------------- */

typedef void (*destroyed)(CUcontext context, void *key, void *value);

static struct kept {
    struct kept *next;
    CUcontext context;
    void *key, *value;
    destroyed callback;
} *storage;
static pthread_mutex_t storage_lock = PTHREAD_MUTEX_INITIALIZER;
static _Thread_local CUcontext current;

void sim_cuda_make_current(void *context)
{
    current = context;
}

int sim_cuda_has_current(void)
{
    return current != NULL;
}

/* The place of an entry, or where it would be; under the lock. */
static struct kept **place(CUcontext context, const void *key)
{
    struct kept **at = &storage;
    while (*at != NULL && ((*at)->context != context || (*at)->key != key)) { at = &(*at)->next; }
    return at;
}

static CUresult storage_put(CUcontext context, void *key, void *value, destroyed callback)
{
    if (context == NULL) { context = current; }
    if (context == NULL) { return CUDA_ERROR_INVALID_CONTEXT; }
    pthread_mutex_lock(&storage_lock);
    struct kept **at = place(context, key);
    if (*at == NULL) { *at = calloc(1, sizeof **at); }
    struct kept *made = *at;
    if (made != NULL) {
        made->context = context;
        made->key = key;
        made->value = value;
        made->callback = callback;
    }
    pthread_mutex_unlock(&storage_lock);
    return made != NULL ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult storage_delete(CUcontext context, void *key)
{
    pthread_mutex_lock(&storage_lock);
    struct kept **at = place(context == NULL ? current : context, key);
    struct kept *gone = *at;
    if (gone != NULL) { *at = gone->next; }
    pthread_mutex_unlock(&storage_lock);
    free(gone);
    return gone != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

static CUresult storage_get(void **value, CUcontext context, void *key)
{
    if (context == NULL) { context = current; }
    if (context == NULL) { return CUDA_ERROR_INVALID_CONTEXT; }
    pthread_mutex_lock(&storage_lock);
    const struct kept *found = *place(context, key);
    if (found != NULL) { *value = found->value; }
    pthread_mutex_unlock(&storage_lock);
    return found != NULL ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}

/* The runtime frees in its callback what it has in the context, by calls that come back here. */
void sim_cuda_context_ends(void *context)
{
    for (;;) {
        pthread_mutex_lock(&storage_lock);
        struct kept **at = &storage;
        while (*at != NULL && (*at)->context != context) { at = &(*at)->next; }
        struct kept *gone = *at;
        if (gone != NULL) { *at = gone->next; }
        pthread_mutex_unlock(&storage_lock);
        if (gone == NULL) { return; }
        if (gone->callback != NULL) { gone->callback(gone->context, gone->key, gone->value); }
        free(gone);
    }
}

static const entry context_local_storage[] = {ENTRY(storage_put), ENTRY(storage_delete), ENTRY(storage_get), NULL};

/* --- the other tables: bytes of the table first ---------------------------------------------------------------------- */

static CUresult not_here(void)
{
    return sim__cuda_private();
}

#define NONE ENTRY(not_here)

/* The handle alone: nobody retains the context by asking for it. */
static CUresult primary_context(CUcontext *context, CUdevice device)
{
    CUresult error = sim__cuDevicePrimaryCtxRetain(context, device);
    return error != CUDA_SUCCESS ? error : sim__cuDevicePrimaryCtxRelease_v2(device);
}

static void nothing(void) { }

static CUresult no_error(void)
{
    return CUDA_SUCCESS;
}

/* The entries that load a kernel's image are not there: kernels are compiled for this processor. */
static const entry cudart_interface[13] = {
    (entry)sizeof cudart_interface, NONE, ENTRY(primary_context), [3 ... 6] = NONE, nothing,
    [8 ... 11] = NONE, ENTRY(no_error), /* loads compilers */
};

/* Switches of tools that watch the runtime's calls: nobody turns them on. */
static uint32_t hooks[1024], more_hooks[16];

static void hooks_of_calls(void **switches, size_t *size)
{
    *switches = hooks;
    *size = sizeof hooks / sizeof *hooks;
}

static void more_hooks_of_calls(void **switches, size_t *size)
{
    *switches = more_hooks;
    *size = 14;
}

static const entry tools_runtime_callback_hooks[7] = {
    (entry)sizeof tools_runtime_callback_hooks, NONE, ENTRY(hooks_of_calls), NONE, NONE, NONE,
    ENTRY(more_hooks_of_calls),
};

static const entry tools_tls[4] = {(entry)sizeof tools_tls, NONE, NONE, NONE};
static const entry tools_devices[32] = {(entry)sizeof tools_devices, [1 ... 31] = NONE};

static CUresult context_check(CUcontext context, uint32_t *flags, const void **more)
{
    (void)context, (void)more;
    *flags = 0;
    return CUDA_SUCCESS;
}

static const entry context_checks[4] = {(entry)sizeof context_checks, NONE, ENTRY(context_check), ENTRY(no_error)};

static CUresult integrity_check(uint32_t version, uint64_t seconds, void *digest);

static const entry integrity[3] = {(entry)sizeof integrity, ENTRY(integrity_check), NONE};

static CUresult integrity_check(uint32_t version, uint64_t seconds, void *digest)
{
    const uint64_t addresses[] = {(uintptr_t)cudart_interface, (uintptr_t)integrity, (uintptr_t)integrity[1]};
    return sim__cuda_integrity(version, seconds, digest, addresses);
}

static const struct {
    unsigned char id[16];
    const entry *table;
} tables[] = {
    {{0x6b, 0xd5, 0xfb, 0x6c, 0x5b, 0xf4, 0xe7, 0x4a, 0x89, 0x87, 0xd9, 0x39, 0x12, 0xfd, 0x9d, 0xf9}, cudart_interface},
    {{0xc6, 0x93, 0x33, 0x6e, 0x11, 0x21, 0xdf, 0x11, 0xa8, 0xc3, 0x68, 0xf3, 0x55, 0xd8, 0x95, 0x93},
     context_local_storage},
    {{0xa0, 0x94, 0x79, 0x8c, 0x2e, 0x74, 0x2e, 0x74, 0x93, 0xf2, 0x08, 0x00, 0x20, 0x0c, 0x0a, 0x66},
     tools_runtime_callback_hooks},
    {{0x42, 0xd8, 0x5a, 0x81, 0x23, 0xf6, 0xcb, 0x47, 0x82, 0x98, 0xf6, 0xe7, 0x8a, 0x3a, 0xec, 0xdc}, tools_tls},
    {{0x21, 0x31, 0x8c, 0x60, 0x97, 0x14, 0x32, 0x48, 0x8c, 0xa6, 0x41, 0xff, 0x73, 0x24, 0xc8, 0xf2}, tools_devices},
    {{0x26, 0x3e, 0x88, 0x60, 0x7c, 0xd2, 0x61, 0x43, 0x92, 0xf6, 0xbb, 0xd5, 0x00, 0x6d, 0xfa, 0x7e}, context_checks},
    {{0xd4, 0x08, 0x20, 0x55, 0xbd, 0xe6, 0x70, 0x4b, 0x8d, 0x34, 0xba, 0x12, 0x3c, 0x66, 0xe1, 0xf2}, integrity},
};

SIM_EXPORT CUresult sim__cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
    for (size_t i = 0; ppExportTable != NULL && pExportTableId != NULL && i < sizeof tables / sizeof *tables; i++) {
        if (memcmp(pExportTableId->bytes, tables[i].id, sizeof tables[i].id) == 0) {
            *ppExportTable = tables[i].table;
            return CUDA_SUCCESS;
        }
    }
    if (sim_enter() != 0) { return CUDA_ERROR_UNKNOWN; }
    return impl_cuGetExportTable(ppExportTable, pExportTableId);
}
