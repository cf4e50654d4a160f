/* How much dynamic shared memory a program wants for a kernel: beyond what any GPU has it must say so
 * (cudaFuncSetAttribute). Without Python, as launches ask. */
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "boot.h"
#include "internal.h"

struct allowed {
    const void *kernel;
    int bytes;
    struct allowed *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct allowed *all;

static struct allowed *of(const void *kernel)
{
    struct allowed *each = all;
    while (each != NULL && each->kernel != kernel) { each = each->next; }
    return each;
}

static int most(void)
{
    int bytes = -1;
    for (const struct allowed *each = all; each != NULL; each = each->next) {
        if (each->bytes > bytes) { bytes = each->bytes; }
    }
    return bytes;
}

static int allow_or_ask(const void *kernel, int allow)
{
    struct allowed *found = of(kernel);
    if (allow < 0) { return found != NULL ? found->bytes : -1; }
    if (found == NULL) {
        found = malloc(sizeof *found);
        if (found == NULL) { return -1; }
        found->kernel = kernel;
        found->next = all;
        all = found;
    }
    found->bytes = allow;
    return allow;
}

int sim_cuda_shared(void *kernel, int allow)
{
    pthread_mutex_lock(&lock);
    int bytes = kernel != NULL ? allow_or_ask(kernel, allow) : most();
    pthread_mutex_unlock(&lock);
    return bytes;
}

SIM_EXPORT int sim____cudlaSimShared(const void *func, int allow)
{
    return sim_cuda_shared((void *)(uintptr_t)func, allow);
}
