/* Hands its words, folder, environment and descriptors to the server, and ends as the server's child
 * ends. Without a server, and for what the server does not take, it is the real Python. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static size_t put(char *to, size_t at, const char *text)
{
    size_t size = strlen(text) + 1;
    if (to)
        memcpy(to + at, text, size);
    return at + size;
}

static size_t pack(char *to, char **argv, const char *folder)
{
    size_t at = put(to, 0, folder);
    for (char **each = argv; *each; each++)
        at = put(to, at, *each);
    for (char **each = environ; *each; each++)
        at = put(to, at, *each);
    return at;
}

static int send_all(int to, const char *data, size_t size)
{
    while (size) {
        ssize_t sent = send(to, data, size, MSG_NOSIGNAL);
        if (sent < 0)
            return -1;
        data += sent;
        size -= (size_t)sent;
    }
    return 0;
}

static int send_head(int to, uint32_t size, uint32_t words)
{
    uint32_t head[2] = {size, words};
    int given[3] = {0, 1, 2};
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof given)];
    } control;
    struct iovec part = {head, sizeof head};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = control.bytes,
                             .msg_controllen = sizeof control.bytes};
    struct cmsghdr *first = CMSG_FIRSTHDR(&message);
    first->cmsg_level = SOL_SOCKET;
    first->cmsg_type = SCM_RIGHTS;
    first->cmsg_len = CMSG_LEN(sizeof given);
    memcpy(CMSG_DATA(first), given, sizeof given);
    return sendmsg(to, &message, MSG_NOSIGNAL) == (ssize_t)sizeof head ? 0 : -1;
}

/* How the child ended, as wait() says it; -1 when nothing was started. */
static int served(char **argv)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = SOCKET};
    char folder[4096];
    int to = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int32_t status = -1;
    if (!getcwd(folder, sizeof folder) || connect(to, (struct sockaddr *)&address, sizeof address))
        return -1;
    size_t size = pack(NULL, argv, folder);
    char *data = malloc(size);
    uint32_t words = 0;
    while (argv[words])
        words++;
    pack(data, argv, folder);
    if (send_head(to, (uint32_t)size, words) || send_all(to, data, size))
        return -1;
    if (recv(to, &status, sizeof status, MSG_WAITALL) != (ssize_t)sizeof status) {
        fprintf(stderr, "tests/warm: the server is gone\n");
        exit(125);
    }
    return status;
}

int main(int argc, char **argv)
{
    int status = served(argv);
    if (status == -1) {
        const char *name = strrchr(argv[0], '/');
        if (strcmp(name ? name + 1 : argv[0], "cudla-sim") == 0) {
            char **words = calloc((size_t)argc + 3, sizeof *words);
            words[0] = PYTHON;
            words[1] = "-m";
            words[2] = "cudla_sim";
            memcpy(words + 3, argv + 1, (size_t)argc * sizeof *words);
            argv = words;
        }
        argv[0] = PYTHON;
        execv(PYTHON, argv);
        perror(PYTHON);
        return 127;
    }
    if (WIFSIGNALED(status)) {
        struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        signal(WTERMSIG(status), SIG_DFL);
        raise(WTERMSIG(status));
    }
    return WEXITSTATUS(status);
}
