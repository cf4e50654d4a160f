/*
 * Main loop of a worker: one process runs one VPU program, launch after launch. The host writes a
 * request into the control file and posts it at the gate (gate.h); the worker runs the kernel, writes
 * the reply and answers there. A closed socket means that the host has gone.
 */
#define _GNU_SOURCE
#include "flow.h"
#include "gate.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static struct pva_gate *gate;
static int host_socket = -1, report_socket;
static uint32_t own_vpu, launch_number;

uint32_t pva_rt_vpu_id(void)
{
    return own_vpu;
}

static void tell(int socket)
{
    int32_t number = (int32_t)(launch_number & 0x7fffffff); /* below 0 are those of the watcher */
    (void)!send(socket, &number, sizeof number, MSG_NOSIGNAL);
}

/* 1 when nobody waits for it yet. */
static int answer(void)
{
    uint32_t was = __atomic_load_n(&gate->state, __ATOMIC_SEQ_CST);
    while (!__atomic_compare_exchange_n(&gate->state, &was, was == PVA_POSTED ? PVA_ANSWERED : PVA_HANDED,
                                        0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
        ;
    if (was == PVA_ASLEEP)
        tell(host_socket);
    return was == PVA_POSTED;
}

/* After a fault. Another thread of execution may be inside stdio: then its buffer is lost. */
static _Noreturn void answer_and_end(void)
{
    rt_flows_end();
    if (ftrylockfile(stdout) == 0)
        fflush(stdout);
    if (answer())
        tell(report_socket);
    _exit(1);
}

static void write_parameters(const struct pva_request *request)
{
    const struct pva_parameter *parameters = (const void *)(request + 1);
    for (uint32_t i = 0; i < request->nr_parameters; i++)
        memcpy(rt_memory.base[PVA_VMEM] + parameters[i].at, rt_control + parameters[i].bytes_at,
               parameters[i].size);
}

static void launch(void)
{
    const struct pva_request *request = (const void *)(rt_control + PVA_REQUEST_AT);
    const struct pva_parameter *parameters = (const void *)(request + 1);
    own_vpu = request->vpu;
    memset(rt_reply, 0, sizeof *rt_reply);
    rt_reply->version = PVA_PROTOCOL_VERSION;
    rt_image_reset();
    rt_faults_begin();
    rt_late_begin(request);
    write_parameters(request);
    rt_flows_begin((const void *)(parameters + request->nr_parameters), request->nr_flows);
    if (request->run_kernel)
        rt_reply->value = cupva_vpu_main();
    rt_flows_drain();
    const uint8_t *overrun = rt_image_overrun();
    rt_reply->status = overrun ? PVA_FAULT : PVA_DONE;
    if (overrun) {
        rt_reply->cause = PVA_CAUSE_OVERRUN;
        rt_reply->address = (uintptr_t)overrun;
    }
    rt_flows_end();
    if (rt_reply->status == PVA_DONE && rt_flows_remarks())
        rt_reply->cause = PVA_CAUSE_REMARKS;
    if (__fpending(stdout))
        fflush(stdout);
}

static int posted(void)
{
    return __atomic_load_n(&gate->posted, __ATOMIC_SEQ_CST) != launch_number;
}

/* Until the next launch: looks for a moment, then sleeps. `unclaimed`: nobody waited for the last one. */
static void wait_for_launch(int unclaimed)
{
    uint64_t ends = pva_moment_ends();
    do {
        for (int i = 0; i < 8; i++) {
            if (posted())
                return;
            pva_pause();
        }
        sched_yield(); /* the host may be on this very processor */
    } while (pva_now_us() < ends);
    if (unclaimed && __atomic_load_n(&gate->state, __ATOMIC_SEQ_CST) == PVA_ANSWERED)
        tell(report_socket);
    for (;;) {
        uint32_t message;
        __atomic_store_n(&gate->worker_sleeps, 1, __ATOMIC_SEQ_CST);
        if (posted())
            break;
        ssize_t got = recv(host_socket, &message, sizeof message, 0);
        if (got != sizeof message && !(got < 0 && errno == EINTR))
            _exit(0);
    }
    __atomic_store_n(&gate->worker_sleeps, 0, __ATOMIC_SEQ_CST);
}

/*
 * Arguments: socket, control file, VMEM, DRAM, L2SRAM, second socket, bytes of DRAM, bytes of L2SRAM.
 */
int main(int count, char **words)
{
    if (count != 9) {
        fputs("this is a VPU program: a host program runs it with CmdProgram\n", stderr);
        return 126;
    }
    host_socket = atoi(words[1]);
    report_socket = atoi(words[6]);
    gate = (struct pva_gate *)(rt_memory_setup(words + 2) + PVA_GATE_AT);
    (void)pva_moment_ends(); /* counts the processors, once */
    rt_faults_setup(answer_and_end);
    int32_t hello = getpid();
    (void)!send(host_socket, &hello, sizeof hello, MSG_NOSIGNAL);
    for (int unclaimed = 0;;) {
        wait_for_launch(unclaimed);
        launch_number = gate->posted;
        launch();
        unclaimed = answer();
    }
}
