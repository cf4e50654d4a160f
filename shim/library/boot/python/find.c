#define _GNU_SOURCE
#include "find.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api.h"

#ifndef CUDLA_SIM_BAKED_PYTHON
#define CUDLA_SIM_BAKED_PYTHON "" /* a wheel: it is found by where it lies */
#endif

#if defined(__x86_64__)
#define MULTIARCH "x86_64-linux-gnu"
#elif defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "unknown"
#endif

static int is_executable(const char *path)
{
    struct stat found;
    return path[0] == '/' && stat(path, &found) == 0 && S_ISREG(found.st_mode) &&
           access(path, X_OK) == 0;
}

static int cut_last(char *path)
{
    char *slash = strrchr(path, '/');
    if (slash == NULL || slash == path) {
        return -1;
    }
    *slash = '\0';
    return 0;
}

int sim_python_package_folder(char *folder, size_t size)
{
    Dl_info self;
    char here[PATH_MAX];
    if (dladdr((void *)&sim_python_package_folder, &self) == 0 ||
        realpath(self.dli_fname, here) == NULL) {
        return -1;
    }
    for (int up = 0; up < 3; up++) { /* <folder>/cudla_sim/lib/libcudla_sim.so */
        if (cut_last(here) != 0) {
            return -1;
        }
    }
    return snprintf(folder, size, "%s", here) < (int)size ? 0 : -1;
}

/* <prefix>/bin/python3 of the installation that `folder` lies in, when it lies in one. */
static int beside(const char *folder, char *path, size_t size)
{
    char here[PATH_MAX];
    snprintf(here, sizeof here, "%s/x", folder);
    while (cut_last(here) == 0) {
        const char *name = strrchr(here, '/');
        if (name != NULL && (strcmp(name, "/lib") == 0 || strcmp(name, "/lib64") == 0)) {
            snprintf(path, size, "%.*s/bin/python3", (int)(name - here), here);
            if (is_executable(path)) {
                return 1;
            }
        }
    }
    return 0;
}

int sim_python_version_in(const char *path, char *version)
{
    for (const char *at = path; (at = strstr(at, "/python3.")) != NULL; at++) {
        size_t digits = strspn(at + 9, "0123456789");
        char end = at[9 + digits];
        if (digits > 0 && digits < 4 && (end == '/' || end == '\0' || end == 't')) {
            snprintf(version, SIM_PYTHON_VERSION_SIZE, "3.%.*s", (int)digits, at + 9);
            return 1;
        }
    }
    return 0;
}

static int on_path(const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    char all[PATH_MAX * 4];
    snprintf(all, sizeof all, "%s:/usr/local/bin:/usr/bin", folders != NULL ? folders : "");
    for (char *rest = all, *folder; (folder = strsep(&rest, ":")) != NULL;) {
        snprintf(path, size, "%s/%s", folder, name);
        if (is_executable(path)) {
            return 1;
        }
    }
    return 0;
}

int sim_python_choose(char *executable, size_t size, char *why, size_t why_size)
{
    const char *wish = getenv("CUDLA_SIM_PYTHON");
    if (wish != NULL && wish[0] != '\0') {
        snprintf(executable, size, "%s", wish);
        if (is_executable(executable)) {
            return 0;
        }
        snprintf(why, why_size, "CUDLA_SIM_PYTHON names no interpreter: %s", wish);
        return -1;
    }
    char folder[PATH_MAX], version[SIM_PYTHON_VERSION_SIZE], name[32];
    int known = sim_python_package_folder(folder, sizeof folder) == 0;
    if (known && beside(folder, executable, size)) {
        return 0;
    }
    snprintf(executable, size, "%s", CUDLA_SIM_BAKED_PYTHON);
    if (is_executable(executable)) {
        return 0;
    }
    /* ~/.local, dist-packages and the like belong to an interpreter elsewhere */
    if (known && sim_python_version_in(folder, version)) {
        snprintf(name, sizeof name, "python%s", version);
        if (on_path(name, executable, size)) {
            return 0;
        }
        snprintf(why, why_size, "%s is for Python %s, and there is no %s on PATH "
                 "(CUDLA_SIM_PYTHON names one)", folder, version, name);
        return -1;
    }
    if (on_path("python3", executable, size)) {
        return 0;
    }
    snprintf(why, why_size, "there is no python3 near %s or on PATH (CUDLA_SIM_PYTHON names one)",
             known ? folder : "this library");
    return -1;
}

/* --- libpython ------------------------------------------------------------------------------- */

static int note_libpython(struct dl_phdr_info *info, size_t size, void *path)
{
    (void)size;
    const char *name = strrchr(info->dlpi_name, '/');
    if (name != NULL && strncmp(name, "/libpython3.", 12) == 0 && strstr(name, ".so") != NULL) {
        snprintf(path, PATH_MAX, "%s", info->dlpi_name);
        return 1;
    }
    return 0;
}

void *sim_python_here(void)
{
    void *address = dlsym(RTLD_DEFAULT, "Py_IsInitialized");
    if (address != NULL) {
        Dl_info python;
        void *library = NULL;
        if (dladdr(address, &python) != 0 && python.dli_fname != NULL) {
            /* to be seen by extensions, and never unloaded */
            library = dlopen(python.dli_fname, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
        }
        /* else the program itself; RTLD_DEFAULT is NULL, which would say that there is none */
        return library != NULL ? library : dlopen(NULL, RTLD_LAZY);
    }
    /* one that somebody opened for himself */
    char path[PATH_MAX] = "";
    if (dl_iterate_phdr(note_libpython, path) == 1) {
        return dlopen(path, RTLD_LAZY | RTLD_GLOBAL | RTLD_NOLOAD);
    }
    return NULL;
}

static void *try_library(const char *path)
{
    return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
}

static void *library_below(const char *prefix, const char *version)
{
    static const char *const folders[] = {"lib", "lib64", "lib/" MULTIARCH};
    static const char *const endings[] = {".so.1.0", ".so"};
    char path[PATH_MAX];
    for (size_t f = 0; f < sizeof folders / sizeof *folders; f++) {
        for (size_t e = 0; e < sizeof endings / sizeof *endings; e++) {
            snprintf(path, sizeof path, "%s/%s/libpython%s%s", prefix, folders[f], version,
                     endings[e]);
            if (access(path, R_OK) == 0) {
                void *library = try_library(path);
                if (library != NULL) {
                    return library;
                }
            }
        }
    }
    return NULL;
}

/*
 * Asks the interpreter itself, which takes longer: version, the folder of its library, and its
 * prefix, a line each.
 */
static int ask(const char *executable, char *answer, size_t size)
{
    static const char question[] =
        "import sys, sysconfig as s;"
        "print('%d.%d' % sys.version_info[:2], s.get_config_var('LIBDIR'), sys.base_prefix, "
        "sep='\\n')";
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) {
        return -1;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    char *arguments[] = {(char *)executable, "-I", "-S", "-c", (char *)question, NULL};
    static char *nothing[] = {NULL}; /* LD_PRELOAD of the host is for the host */
    pid_t child = 0;
    int failed = posix_spawn(&child, executable, &actions, NULL, arguments, nothing);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    size_t length = 0;
    ssize_t more = 0;
    while (!failed && length + 1 < size &&
           ((more = read(ends[0], answer + length, size - 1 - length)) > 0 ||
            (more < 0 && errno == EINTR))) {
        length += more > 0 ? (size_t)more : 0;
    }
    answer[length] = '\0';
    close(ends[0]);
    if (!failed) {
        int ignored;
        while (waitpid(child, &ignored, 0) < 0 && errno == EINTR) {
        }
    }
    return length > 0 ? 0 : -1;
}

void *sim_python_library(const char *executable, char *why, size_t why_size)
{
    char real[PATH_MAX], version[SIM_PYTHON_VERSION_SIZE] = "", path[PATH_MAX];
    void *library = NULL;
    if (realpath(executable, real) == NULL) {
        snprintf(real, sizeof real, "%s", executable);
    }
    char *name = strrchr(real, '/');
    if (name != NULL && sim_python_version_in(name, version) && name[strlen(name) - 1] == 't') {
        snprintf(why, why_size, "%s is a free-threaded Python, which has no stable ABI for "
                 "extensions; use the ordinary python%s", executable, version);
        return NULL;
    }
    if (name != NULL && version[0] != '\0') {
        *name = '\0';
        char prefix[PATH_MAX];
        snprintf(prefix, sizeof prefix, "%s", real);
        if (cut_last(prefix) == 0) {
            library = library_below(prefix, version);
        } else { /* /bin/python3 */
            library = library_below("", version);
        }
        if (library == NULL) {
            snprintf(path, sizeof path, "libpython%s.so.1.0", version);
            library = try_library(path);
        }
        *name = '/';
    }
    if (library == NULL) { /* a copy of the interpreter (venv --copies), or an unusual place */
        char answer[PATH_MAX * 2];
        if (ask(executable, answer, sizeof answer) == 0) {
            char *rest = answer;
            const char *told = strsep(&rest, "\n");
            const char *folder = rest != NULL ? strsep(&rest, "\n") : "";
            const char *prefix = rest != NULL ? strsep(&rest, "\n") : "";
            snprintf(version, sizeof version, "%s", told);
            snprintf(path, sizeof path, "%s/libpython%s.so.1.0", folder, version);
            library = access(path, R_OK) == 0 ? try_library(path) : NULL;
            library = library != NULL ? library : library_below(prefix, version);
            if (library == NULL) {
                snprintf(path, sizeof path, "libpython%s.so.1.0", version);
                library = try_library(path);
            }
        }
    }
    if (library == NULL) {
        snprintf(why, why_size,
                 "%s has no shared library libpython%s.so.1.0: install it (Debian, Ubuntu: "
                 "libpython%s; Fedora: python3-libs; others: a Python configured with "
                 "--enable-shared), or name another interpreter with CUDLA_SIM_PYTHON",
                 executable, version[0] ? version : "3", version[0] ? version : "3");
    }
    return library;
}
