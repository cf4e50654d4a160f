/* What is known of an address in a program: its file, its name, its lines, the thread's variables of its module. */
#define _GNU_SOURCE /* dladdr, dl_iterate_phdr */
#include <dlfcn.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "boot.h"
#include "cuda/cuda_runtime_api.h"
#include "cuda/crt/launches.h"
#include "generated/hand_written.h"
#include "internal.h"

const char *sim_cuda_symbol_name(void *address)
{
    Dl_info module;
    return dladdr(address, &module) && module.dli_saddr == address ? module.dli_sname : NULL;
}

const char *sim_cuda_file_of(void *address, uintptr_t *base)
{
    Dl_info module;
    if (!dladdr(address, &module) || module.dli_fname == NULL) { return NULL; }
    const ElfW(Ehdr) *header = module.dli_fbase;
    *base = header->e_type == ET_DYN ? (uintptr_t)module.dli_fbase : 0;
    return module.dli_fname;
}

#define SELF "/proc/self/"

/* A word for the shell; 0 when it does not fit. */
static size_t quote(char *to, size_t room, const char *text)
{
    size_t used = 0;
    for (; *text != '\0'; text++) {
        const char letter[] = {*text, '\0'}, *put = *text == '\'' ? "'\\''" : letter;
        size_t size = strlen(put);
        if (used + size >= room) { return 0; }
        memcpy(to + used, put, size + 1);
        used += size;
    }
    return used;
}

/* Whether a line of addr2line says where; cuts what follows the line's number. */
static int place(char *line)
{
    line[strcspn(line, " \n")] = '\0';
    return line[0] != '?' && strstr(line, "/c++/") == NULL;
}

SIM_EXPORT size_t sim____cudlaSimLines(const void *at, char *text, size_t size)
{
    char name[4096], command[4200], line[1024], own[4096];
    size_t used = 0;
    uintptr_t base;
    if (text == NULL || size == 0) { return 0; }
    text[0] = '\0';
    const char *file = sim_cuda_file_of((void *)at, &base);
    if (file == NULL) { return 0; }
    if (strncmp(file, SELF, sizeof SELF - 1) == 0) { /* a module in memory, whose file is this process's alone */
        snprintf(own, sizeof own, "/proc/%ld/%s", (long)getpid(), file + sizeof SELF - 1);
        file = own;
    }
    if (quote(name, sizeof name, file) == 0) { return 0; }
    snprintf(command, sizeof command, "addr2line -i -e '%s' 0x%llx 2>/dev/null", name,
             (unsigned long long)((uintptr_t)at - base));
    FILE *lines = popen(command, "r");
    if (lines == NULL) { return 0; }
    while (fgets(line, sizeof line, lines) != NULL) {
        const char *shown = line;
        while (shown[0] == '.' && shown[1] == '/') { shown += 2; }
        if (place(line) && strlen(shown) + 2 <= size - used) {
            used += (size_t)snprintf(text + used, size - used, "%s\n", shown);
        }
    }
    pclose(lines);
    return used;
}

struct search {
    uintptr_t inside;
    void **begin, **end;
};

static int look_into(struct dl_phdr_info *info, size_t size, void *argument)
{
    const struct search *search = argument;
    uintptr_t begin = (uintptr_t)info->dlpi_tls_data;
    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        if (part->p_type == PT_TLS && search->inside - begin < part->p_memsz) {
            *search->begin = (void *)begin;
            *search->end = (void *)(begin + part->p_memsz);
        }
    }
    return 0;
}

SIM_EXPORT void sim____cudlaSimThreadVariables(const void *inside, void **begin, void **end)
{
    struct search search = {(uintptr_t)inside, begin, end};
    if (begin == NULL || end == NULL) { return; }
    *begin = *end = NULL;
    dl_iterate_phdr(look_into, &search);
}
