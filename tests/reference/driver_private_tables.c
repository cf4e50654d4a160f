/* The private tables of the driver, as a runtime uses them: by number of the entry. */
#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

typedef void (*destroyed)(CUcontext context, void *key, void *value);
typedef CUresult (*put)(CUcontext context, void *key, void *value, destroyed callback);
typedef CUresult (*drop)(CUcontext context, void *key);
typedef CUresult (*get)(void **value, CUcontext context, void *key);
typedef CUresult (*primary)(CUcontext *context, CUdevice device);
typedef CUresult (*check)(uint32_t version, uint64_t seconds, void *digest);
typedef CUresult (*unknown)(void);

static const void *const *table(uint32_t a, uint16_t b, uint16_t c, uint64_t rest)
{
    const unsigned char bytes[16] = {
        a >> 24, a >> 16, a >> 8, a, b >> 8, b, c >> 8, c, rest >> 56, rest >> 48, rest >> 40, rest >> 32,
        rest >> 24, rest >> 16, rest >> 8, rest,
    };
    CUuuid id;
    const void *found = NULL;
    memcpy(id.bytes, bytes, sizeof bytes);
    CALL(cuGetExportTable(&found, &id));
    CHECK(found != NULL);
    return found;
}

static int ended;

static void end(CUcontext context, void *key, void *value)
{
    CUcontext current;
    CALL(cuCtxGetCurrent(&current)); /* a callback may call the driver */
    CHECK(context == current && key == (void *)&ended && value == (void *)7);
    ended++;
}

static const void *const *storage;

static void *elsewhere(void *context)
{
    void *value = NULL;
    CHECK(((get)storage[2])(&value, NULL, &ended) == CUDA_ERROR_INVALID_CONTEXT);
    CALL(((get)storage[2])(&value, context, &ended));
    CHECK(value == (void *)7);
    return NULL;
}

static void keep(CUcontext context)
{
    void *value = NULL;
    storage = table(0xc693336e, 0x1121, 0xdf11, 0xa8c368f355d89593);
    CHECK(((get)storage[2])(&value, NULL, &ended) == CUDA_ERROR_INVALID_HANDLE);
    CALL(((put)storage[0])(NULL, &ended, (void *)6, NULL));
    CALL(((put)storage[0])(context, &ended, (void *)7, end));
    CALL(((put)storage[0])(context, &storage, (void *)8, NULL));
    CALL(((get)storage[2])(&value, NULL, &ended));
    CHECK(value == (void *)7);
    CALL(((drop)storage[1])(NULL, &storage));
    CHECK(((drop)storage[1])(context, &storage) == CUDA_ERROR_INVALID_HANDLE);
    CHECK(((get)storage[2])(&value, context, &storage) == CUDA_ERROR_INVALID_HANDLE);
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, elsewhere, context) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    CALL(cuDevicePrimaryCtxReset(0));
    CHECK(ended == 1);
    CHECK(((get)storage[2])(&value, context, &ended) == CUDA_ERROR_INVALID_HANDLE);
    CALL(((put)storage[0])(context, &ended, (void *)7, end));
}

int main(void)
{
    CUcontext context, found;
    unsigned int flags;
    int active = 7;
    uint64_t first[2] = {0}, second[2] = {0}, third[2] = {0}, again[2] = {0};
    CALL(cuInit(0));
    const void *const *runtime = table(0x6bd5fb6c, 0x5bf4, 0xe74a, 0x8987d93912fd9df9);
    CHECK((size_t)runtime[0] == 13 * sizeof(void *));
    CALL(((primary)runtime[2])(&found, 0)); /* which does not retain it */
    CALL(cuDevicePrimaryCtxGetState(0, &flags, &active));
    CHECK(active == 0);
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CHECK(context == found);
    CHECK(((unknown)runtime[3])() == CUDA_ERROR_NOT_SUPPORTED);
    CALL(cuCtxSetCurrent(context));
    keep(context);

    const void *const *integrity = table(0xd4082055, 0xbde6, 0x704b, 0x8d34ba123c66e1f2);
    CALL(((check)integrity[1])(12090, 1700000000, first));
    CALL(((check)integrity[1])(12091, 1700000000, second));
    CHECK(first[1] == second[1] && first[0] != second[0]);
    CALL(((check)integrity[1])(12092, 1700000000, third));
    CALL(((check)integrity[1])(12092, 1700000001, again));
    CHECK(memcmp(third, again, sizeof third) != 0);

    const void *const *contexts = table(0x263e8860, 0x7cd2, 0x6143, 0x92f6bbd5006dfa7e);
    uint32_t bits = 7;
    const void *more;
    CALL(((CUresult(*)(CUcontext, uint32_t *, const void **))contexts[2])(context, &bits, &more));
    CHECK(bits == 0);
    const void *const *hooks = table(0xa094798c, 0x2e74, 0x2e74, 0x93f20800200c0a66);
    uint32_t *switches = NULL;
    size_t size = 0;
    ((void (*)(void **, size_t *))hooks[2])((void **)&switches, &size);
    CHECK(size > 0 && switches[0] == 0 && switches[size - 1] == 0);
    CHECK((size_t)table(0x42d85a81, 0x23f6, 0xcb47, 0x8298f6e78a3aecdc)[0] > 0);
    CHECK((size_t)table(0x21318c60, 0x9714, 0x3248, 0x8ca641ff7324c8f2)[0] > 0);

    CALL(cuDevicePrimaryCtxRelease(0)); /* the last one: what is kept ends with the context */
    CHECK(ended == 2);
    puts("ok");
    return 0;
}
