/* The host's side of the gate between it and a VPU worker (vpu_run/gate.h). */
#define _GNU_SOURCE
#include "native.h"

#include "vpu_run/gate.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/socket.h>

static int change(struct pva_gate *gate, uint32_t from, uint32_t to)
{
    return __atomic_compare_exchange_n(&gate->state, &from, to, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

void sim_pva_gate_reset(void *at)
{
    struct pva_gate *gate = at;
    gate->posted = gate->worker_sleeps = gate->reserved = 0;
    __atomic_store_n(&gate->state, PVA_TAKEN, __ATOMIC_SEQ_CST);
}

int sim_pva_post(void *at, int socket, int claimed)
{
    struct pva_gate *gate = at;
    uint32_t number = gate->posted + 1;
    __atomic_store_n(&gate->state, claimed ? PVA_LOOKING : PVA_POSTED, __ATOMIC_SEQ_CST);
    __atomic_store_n(&gate->posted, number, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&gate->worker_sleeps, __ATOMIC_SEQ_CST))
        return 1;
    return send(socket, &number, sizeof number, MSG_NOSIGNAL) == sizeof number;
}

/* The message that came: SIM_PVA_ANSWERED, or SIM_PVA_GONE. */
static int received(struct pva_gate *gate, int socket, int32_t *message)
{
    ssize_t got;
    do
        got = recv(socket, message, sizeof *message, 0);
    while (got < 0 && errno == EINTR);
    if (got != sizeof *message)
        *message = 0;
    if (got != sizeof *message || *message < 0)
        return SIM_PVA_GONE;
    __atomic_store_n(&gate->state, PVA_TAKEN, __ATOMIC_SEQ_CST);
    return SIM_PVA_ANSWERED;
}

/* Whether a message came before `ends` (microseconds; 0: wait for ever). */
static int came(int socket, uint64_t ends)
{
    struct pollfd waited = {.fd = socket, .events = POLLIN};
    for (;;) {
        struct timespec left, *limit = 0;
        if (ends != 0) {
            uint64_t now = pva_now_us(), us = now < ends ? ends - now : 0;
            left.tv_sec = (time_t)(us / 1000000);
            left.tv_nsec = (long)(us % 1000000 * 1000);
            limit = &left;
        }
        int found = ppoll(&waited, 1, limit, 0);
        if (found > 0)
            return 1;
        if (found == 0)
            return 0;
        if (errno != EINTR)
            return 1; /* recv says what is wrong */
    }
}

static int waited(struct pva_gate *gate, int socket, int64_t timeout_us, int keep, int32_t *message)
{
    uint64_t ends = timeout_us < 0 ? 0 : pva_now_us() + (uint64_t)timeout_us + 1;
    if (keep == SIM_PVA_AGAIN) /* asleep since then: the end comes as a message, whatever the state is */
        return came(socket, ends) ? received(gate, socket, message) : SIM_PVA_LATE;
    if (!keep && !change(gate, PVA_POSTED, PVA_LOOKING))
        return change(gate, PVA_ANSWERED, PVA_TAKEN) ? SIM_PVA_ANSWERED : SIM_PVA_OTHERS;
    uint64_t moment = pva_moment_ends();
    do {
        if (__atomic_load_n(&gate->state, __ATOMIC_RELAXED) == PVA_HANDED &&
            change(gate, PVA_HANDED, PVA_TAKEN))
            return SIM_PVA_ANSWERED;
        for (int i = 0; i < 8; i++)
            pva_pause();
        sched_yield(); /* the worker may be on this very processor */
    } while (pva_now_us() < moment && (ends == 0 || pva_now_us() < ends));
    if (!change(gate, PVA_LOOKING, PVA_ASLEEP)) {
        __atomic_store_n(&gate->state, PVA_TAKEN, __ATOMIC_SEQ_CST); /* it was handed just now */
        return SIM_PVA_ANSWERED;
    }
    if (came(socket, ends))
        return received(gate, socket, message);
    if (keep)
        return SIM_PVA_LATE;
    if (change(gate, PVA_ASLEEP, PVA_POSTED)) { /* a worker that died just now has told it here */
        struct pollfd waited = {.fd = socket, .events = POLLIN};
        if (poll(&waited, 1, 0) <= 0 || !change(gate, PVA_POSTED, PVA_ASLEEP))
            return SIM_PVA_LATE;
    }
    return received(gate, socket, message);
}

int64_t sim_pva_wait(void *at, int socket, int64_t timeout_us, int keep)
{
    int32_t message = 0;
    int outcome = waited(at, socket, timeout_us, keep, &message);
    return (int64_t)message * 256 + outcome;
}

int sim_pva_take(void *at, int gone)
{
    struct pva_gate *gate = at;
    if (change(gate, PVA_ANSWERED, PVA_TAKEN))
        return SIM_PVA_ANSWERED;
    return gone && change(gate, PVA_POSTED, PVA_TAKEN) ? SIM_PVA_GONE : SIM_PVA_OTHERS;
}
