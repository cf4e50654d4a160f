/*
 * The LeakSanitizer of gcc 12 and of clang before 15 takes a thread's block of variables that begins
 * 16 bytes behind the start of a page for one with a header, reads two words of its own allocator as
 * an address and a size, and dies of looking there ("Tracer caught signal 11",
 * sanitizer_tls_get_addr.cpp, DTLS_on_tls_get_addr). The loader allocates such a block when a thread
 * first uses an extension's variable; the first small blocks of a thread begin at a page. So those
 * are used up before. Freed, they wait in the sanitizer's quarantine and are not handed out at once.
 */
#define _GNU_SOURCE
#include "leaks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#define PAGE 4096
#define NEAR 512 /* room for some more blocks before or behind */
#define MOST 64
#define BYTES 4 /* the smallest class of blocks, as _cffi_backend's variables are in */

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t clear_key;

int sim_has_leak_sanitizer(void)
{
    return dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != NULL;
}

static void make_key(void)
{
    pthread_key_create(&clear_key, NULL);
}

void sim_clear_of_page_starts(void)
{
    void *volatile taken[MOST];
    int count = 0;
    pthread_once(&once, make_key);
    if (pthread_getspecific(clear_key) != NULL) {
        return;
    }
    pthread_setspecific(clear_key, &clear_key);
    for (;;) {
        void *block = malloc(BYTES);
        uintptr_t in_page = (uintptr_t)block % PAGE;
        taken[count++] = block;
        if (block == NULL || count == MOST || (in_page > NEAR && in_page < PAGE - NEAR)) {
            break;
        }
    }
    for (int i = 0; i < count; i++) {
        free(taken[i]);
    }
}
