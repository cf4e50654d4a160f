/* The table of fat binaries, kernels and variables, filled by static initialisers before main and of
 * libraries that are loaded later. No Python: it may not be there yet. */
#define _GNU_SOURCE /* dladdr1 */
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "boot.h"
#include "library/cuda/registration.h"

struct binary {
    void *wrapper; /* a handle points here, as code of nvcc may read it */
    size_t number;
    struct binary *next;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct binary *binaries;
static size_t numbers;
static struct sim_cuda_function *functions;
static size_t function_count, function_room;
static struct sim_cuda_variable *variables;
static size_t variable_count, variable_room;

static struct binary *find(void **handle)
{
    for (struct binary *each = binaries; each != NULL; each = each->next) {
        if (&each->wrapper == handle) { return each; }
    }
    return NULL;
}

/* Room for one more element; 0 when there is no memory: what is not registered is not found later. */
static int grow(void **array, size_t *room, size_t count, size_t size)
{
    if (count < *room) { return 1; }
    size_t wanted = *room == 0 ? 64 : *room * 2;
    void *larger = realloc(*array, wanted * size);
    if (larger == NULL) { return 0; }
    *array = larger;
    *room = wanted;
    return 1;
}

SIM_EXPORT void **sim____cudaRegisterFatBinary(void *wrapper)
{
    struct binary *made = malloc(sizeof *made);
    if (made == NULL) { return NULL; }
    made->wrapper = wrapper;
    pthread_mutex_lock(&lock);
    made->number = ++numbers;
    made->next = binaries;
    binaries = made;
    pthread_mutex_unlock(&lock);
    return &made->wrapper;
}

SIM_EXPORT void sim____cudaRegisterFatBinaryEnd(void **handle)
{
    (void)handle; /* nothing is loaded before it is used */
}

SIM_EXPORT void sim____cudaUnregisterFatBinary(void **handle)
{
    pthread_mutex_lock(&lock);
    struct binary **link = &binaries;
    while (*link != NULL && &(*link)->wrapper != handle) { link = &(*link)->next; }
    struct binary *gone = *link;
    if (gone != NULL) {
        size_t kept = 0;
        *link = gone->next;
        for (size_t i = 0; i < function_count; i++) {
            if (functions[i].binary != handle) { functions[kept++] = functions[i]; }
        }
        function_count = kept;
        kept = 0;
        for (size_t i = 0; i < variable_count; i++) {
            if (variables[i].binary != handle) { variables[kept++] = variables[i]; }
        }
        variable_count = kept;
    }
    pthread_mutex_unlock(&lock);
    free(gone);
}

/*
 * The library that a kernel is in stays loaded, whoever closes it: the engine of another one keeps the
 * kernel's functions, and a library that takes its place would be taken for it.
 */
static void keep_loaded(const void *kernel)
{
    static void *last;
    Dl_info found;
    struct link_map *map = NULL;
    if (!dladdr1(kernel, &found, (void **)&map, RTLD_DL_LINKMAP) || map->l_name[0] == '\0' ||
        map == __atomic_exchange_n(&last, map, __ATOMIC_RELAXED)) {
        return; /* the program itself stays, the others are asked for once in a row */
    }
    void *library = dlopen(map->l_name, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    if (library != NULL) { dlclose(library); }
}

SIM_EXPORT void sim____cudaRegisterFunction(void **handle, const char *host, char *device,
                                            const char *name, int thread_limit, void *tid,
                                            void *bid, void *block, void *grid, int *warp)
{
    (void)device, (void)tid, (void)bid, (void)block, (void)grid, (void)warp;
    pthread_mutex_lock(&lock);
    struct binary *of = find(handle);
    if (of != NULL && grow((void **)&functions, &function_room, function_count, sizeof *functions)) {
        functions[function_count++] = (struct sim_cuda_function){
            .binary = handle,
            .wrapper = of->wrapper,
            .host = host,
            .name = name,
            .thread_limit = thread_limit,
            .number = of->number,
        };
    }
    pthread_mutex_unlock(&lock);
    if (of != NULL && sim_cuda_is_ours(of->wrapper)) { keep_loaded(host); }
}

static void add_variable(void **handle, void *host, const char *name, size_t size, int constant,
                         int managed)
{
    pthread_mutex_lock(&lock);
    struct binary *of = find(handle);
    if (of != NULL && grow((void **)&variables, &variable_room, variable_count, sizeof *variables)) {
        variables[variable_count++] = (struct sim_cuda_variable){
            .binary = handle,
            .wrapper = of->wrapper,
            .host = host,
            .name = name,
            .size = size,
            .constant = constant != 0,
            .managed = managed,
            .number = of->number,
        };
    }
    pthread_mutex_unlock(&lock);
}

SIM_EXPORT void sim____cudaRegisterVar(void **handle, char *host, char *device, const char *name,
                                       int ext, size_t size, int constant, int global)
{
    (void)device, (void)ext, (void)global;
    add_variable(handle, host, name, size, constant, 0);
}

SIM_EXPORT void sim____cudaRegisterManagedVar(void **handle, void **host, char *device,
                                              const char *name, int ext, size_t size, int constant,
                                              int global)
{
    (void)device, (void)ext, (void)global;
    add_variable(handle, host, name, size, constant, 1);
}

static const unsigned promised = SIM_CUDA_MAGIC_PROMISED; /* the wrapper of all of them */

int sim_cuda_is_promised(const void *wrapper) { return wrapper == &promised; }

void *sim_cuda_promise(const char *name)
{
    char *handle = strdup(name);
    pthread_mutex_lock(&lock);
    if (handle != NULL && grow((void **)&functions, &function_room, function_count, sizeof *functions)) {
        functions[function_count++] = (struct sim_cuda_function){
            .wrapper = (void *)(uintptr_t)&promised,
            .host = handle,
            .name = handle,
            .thread_limit = -1,
            .number = (size_t)(uintptr_t)handle,
        };
    } else {
        free(handle);
        handle = NULL;
    }
    pthread_mutex_unlock(&lock);
    return handle;
}

void sim_cuda_break_promise(void *handle)
{
    size_t kept = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < function_count; i++) {
        if (functions[i].host != handle) { functions[kept++] = functions[i]; }
    }
    function_count = kept;
    pthread_mutex_unlock(&lock);
    free(handle);
}

int sim_cuda_function_of(const void *host, struct sim_cuda_function *found)
{
    int known = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < function_count && !known; i++) {
        if (functions[i].host == host) { *found = functions[i], known = 1; }
    }
    pthread_mutex_unlock(&lock);
    return known;
}

int sim_cuda_variable_of(const void *host, struct sim_cuda_variable *found)
{
    int known = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < variable_count && !known; i++) {
        if (variables[i].host == host) { *found = variables[i], known = 1; }
    }
    pthread_mutex_unlock(&lock);
    return known;
}

void sim_cuda_stands_for(const void *host, const void *real)
{
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < function_count; i++) {
        if (functions[i].host == host) { functions[i].real = real; }
    }
    pthread_mutex_unlock(&lock);
}

void *sim_cuda_binary(void **handle, size_t *number)
{
    void *wrapper = NULL;
    pthread_mutex_lock(&lock);
    struct binary *of = find(handle);
    if (of != NULL) { wrapper = of->wrapper, *number = of->number; }
    pthread_mutex_unlock(&lock);
    return wrapper;
}

int sim_cuda_variable_at(size_t number, size_t index, struct sim_cuda_variable *found)
{
    int known = 0;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < variable_count && !known; i++) {
        if (variables[i].number == number && index-- == 0) { *found = variables[i], known = 1; }
    }
    pthread_mutex_unlock(&lock);
    return known;
}

int sim_cuda_is_ours(const void *wrapper)
{
    unsigned magic = 0;
    if (wrapper != NULL) { memcpy(&magic, wrapper, sizeof magic); }
    return magic == SIM_CUDA_MAGIC_OURS;
}

static size_t counted(const size_t *count)
{
    pthread_mutex_lock(&lock);
    size_t now = *count;
    pthread_mutex_unlock(&lock);
    return now;
}

size_t sim_cuda_functions(void) { return counted(&function_count); }

size_t sim_cuda_variables(void) { return counted(&variable_count); }
