/*
 * Landlock checks every path: a program reads what the loader needs, and writes nothing; it reaches no
 * port, no abstract socket and no process outside.
 */
#define _GNU_SOURCE
#include "confine.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The headers may be older than the system: its rules are named by their numbers here. */
enum { CREATE_RULESET = 444, ADD_RULE = 445, RESTRICT_SELF = 446, PATH_BENEATH = 1 };

struct ruleset {
    uint64_t fs, net, scoped;
};
struct beneath {
    uint64_t allowed;
    int32_t parent;
} __attribute__((packed));

#define EXECUTE (1ull << 0)
#define READ_FILE (1ull << 2)
#define READ_FOLDER (1ull << 3)
#define EVERY_WRITE (0x1ffeull & ~READ_FILE & ~READ_FOLDER) /* bits 1 to 12 without the reads */

/* Where programs and libraries of a system lie, and what their start-up looks at. */
static const char *const readable[] = {
    "/usr", "/lib", "/lib64", "/lib32", "/bin", "/opt", "/etc/ld.so.cache", "/etc/localtime",
    "/nix/store", "/gnu/store", "/dev/null", "/dev/zero", "/dev/urandom", "/dev/random",
    "/sys/devices/system/cpu", "/proc/cpuinfo", "/proc/meminfo", "/proc/sys/vm/overcommit_memory",
};

static void add(int rules, const char *path, uint64_t rights)
{
    int parent = open(path, O_PATH | O_CLOEXEC);
    if (parent < 0)
        return;
    struct beneath rule = {rights, parent};
    if (syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0) != 0) {
        rule.allowed = rights & (EXECUTE | READ_FILE); /* it is no folder */
        (void)syscall(ADD_RULE, rules, PATH_BENEATH, &rule, 0);
    }
    close(parent);
}

int confine_paths(uint32_t allowed, int program)
{
    long version = syscall(CREATE_RULESET, 0, 0, 1);
    if (version < 1)
        return 0;
    struct ruleset rules = {0, 0, 0};
    if (!(allowed & ALLOW_FILES)) {
        rules.fs = EVERY_WRITE | READ_FILE | READ_FOLDER;
        if (version >= 2)
            rules.fs |= 1ull << 13; /* moving between folders */
        if (version >= 3)
            rules.fs |= 1ull << 14; /* cutting off */
        if (version >= 5)
            rules.fs |= 1ull << 15; /* ioctl of devices */
    }
    if (!(allowed & ALLOW_NETWORK) && version >= 4)
        rules.net = 3; /* TCP: bind and connect */
    if (version >= 6)
        rules.scoped = 3; /* abstract sockets and signals: among workers only */
    size_t size = version >= 6 ? sizeof rules : version >= 4 ? 16 : 8;
    if (rules.fs == 0 && rules.net == 0 && rules.scoped == 0)
        return CONFINED_PATHS;
    int made = (int)syscall(CREATE_RULESET, &rules, size, 0);
    if (made < 0)
        return 0;
    if (rules.fs)
        for (unsigned i = 0; i < sizeof readable / sizeof *readable; i++)
            add(made, readable[i], READ_FILE | READ_FOLDER);
    /* Execution reads it. A file in memory needs no rule and gets none; without /proc it is another. */
    struct beneath rule = {READ_FILE, program};
    if (rules.fs)
        (void)syscall(ADD_RULE, made, PATH_BENEATH, &rule, 0);
    long failed = syscall(RESTRICT_SELF, made, 0);
    close(made);
    return failed ? 0 : CONFINED_PATHS;
}
