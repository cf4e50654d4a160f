/*
 * cudla_sim.h - what the simulator adds to the vendors' APIs.
 *
 * A program written for the real stacks needs none of this. Everything here may be called from C
 * and from C++, from any thread, before or after any other call.
 */
#ifndef CUDLA_SIM_H
#define CUDLA_SIM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Result of the functions below that can fail; simExplain tells why. */
typedef enum simStatus {
    simSuccess = 0,
    simErrorInvalidParam = 1,
    simErrorUnknown = -1
} simStatus;

/*
 * Copies the explanation of this thread's last failed call (of any API) into buffer, cut to size
 * and always terminated, and returns its full length without the terminating zero. The text is
 * empty when nothing failed yet. buffer may be NULL to ask for the length.
 */
size_t simExplain(char *buffer, size_t size);

/* Starts Python now, instead of inside the first API call. What a function needs (its handlers, its
   model) is loaded by the first call of it. */
simStatus simWarmup(void);

/* Destroys every device, module, buffer and queue: the process is as it was before its first call.
   Waits for work that is running. Handles given out before are stale afterwards. */
simStatus simReset(void);

/*
 * Makes calls or engine work fail on purpose. rule is `point[@n][=STATUS]`: point is the name of
 * an API function ("cudlaSubmitTask") or of a place inside an engine ("dla/task", "dla/timeout",
 * "fence/never"); n is which pass fails, counted from 1 (every pass when left out); STATUS is the
 * name of a status of that API. Several rules are separated by commas. NULL or "" removes all.
 */
simStatus simInjectFault(const char *rule);

/* Writes a Chrome/Perfetto trace of all calls and engine work to path from now on, until
   simTraceStop or the end of the process. */
simStatus simTraceStart(const char *path);
simStatus simTraceStop(void);

/*
 * --- NVDLA under somebody else's driver (nvdla/nvdla_interface.h) ------------------------------
 *
 * Cores are numbered from 0 (setting dla_count). Bus addresses are host addresses: memory from
 * NvDlaAllocMem can be named to the engine by the pointer that the program got.
 *
 * A program that brings its own firmware (dla_execute_task and its siblings) below our NvDlaSubmit
 * needs nothing of this: NvDlaSubmit calls it, and calls its dla_isr_handler when the interrupt
 * line is up. The rest is for programs that drive the registers themselves.
 */

/*
 * What dla_reg_read and dla_reg_write of the simulator take as driver_context: names a core. NULL
 * (which they also take) is core 0. Returns NULL for a core that is not there.
 */
void *simNvdlaContext(uint32_t core);

/*
 * What the portability functions of the simulator (dla_data_read, dla_data_write,
 * dla_get_dma_address) take as task_data. NvDlaSubmit makes it for the firmware it calls; a program
 * that calls an engine itself fills one in. Entry i of address_list is buffer i: `size` bytes at
 * `data`; `offset` is added for the engine (DESTINATION_DMA), not for dla_data_read.
 */
typedef struct simNvdlaAddress {
    void *data;
    uint64_t size;
    uint64_t offset;
} simNvdlaAddress;

typedef struct simNvdlaTask {
    uint32_t num_addresses;
    const simNvdlaAddress *address_list;
} simNvdlaTask;

/* The registers of a core, whoever defines dla_reg_read and dla_reg_write. A core that is not
   there reads 0. */
uint32_t simNvdlaRead(uint32_t core, uint32_t address);
simStatus simNvdlaWrite(uint32_t core, uint32_t address, uint32_t value);

/*
 * Work begins with a write to D_OP_ENABLE, but is never done inside that write. What moves it on:
 *
 *   - simNvdlaStep: computes until something has ended. *interrupt becomes 1 when the interrupt
 *     line is up, else 0; *moved becomes 0 when nothing is running and nothing can start. Either
 *     pointer may be NULL. An operation that hardware does not define is simErrorUnknown, and the
 *     core is reset.
 *   - reading a status register (S_STATUS, S_POINTER, S_INTR_STATUS), when no handler is set: time
 *     passes while a program polls.
 *   - an interrupt handler: see below.
 */
simStatus simNvdlaStep(uint32_t core, int *moved, int *interrupt);

/*
 * Lets all cores reach `size` bytes of the program's own memory, at their host address: for programs
 * that need it where they chose (mmap with MAP_FIXED), as the benches of `cudla-sim nvdla export`
 * do. It must be readable and writable, and stay where it is until it is given back with size 0.
 */
simStatus simNvdlaMemory(void *memory, uint64_t size);

/* Puts a core into its state after power-on. */
simStatus simNvdlaReset(uint32_t core);

/*
 * From now on the core works by itself, and handler(arg) is called each time something has ended
 * that leaves the interrupt line up. The calls come one at a time from a thread that belongs to the
 * simulator and has no Python below it; the handler may use every function of these APIs (usually
 * it calls dla_isr_handler and wakes the program's own thread). It must return: an exception or a
 * longjmp out of it ends the program. NULL removes the handler; a call that is running at that
 * moment is not waited for.
 */
typedef void (*simInterruptHandler)(void *arg);
simStatus simSetInterruptHandler(uint32_t core, simInterruptHandler handler, void *arg);

#ifdef __cplusplus
}
#endif

#endif
