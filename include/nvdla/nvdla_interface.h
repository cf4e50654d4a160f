/*
 * nvdla_interface.h - the two sides of the kernel-mode driver.
 *
 * The engine ("firmware") schedules a task's operations and programs the registers. The portability
 * layer gives it registers, memory, time and a console. The simulator has both sides; a program
 * that defines one of them itself gets the calls of the other, because its definitions come first
 * in symbol lookup. cudla_sim.h says what driver_context and task_data are to the simulator's
 * portability layer, and how an interrupt reaches a driver that is not the simulator's.
 */
#ifndef __NVDLA_INTERFACE_H_
#define __NVDLA_INTERFACE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- the engine; what returns int32_t returns 0 or a negative DLA_ERR_ number ----------------- */

/* Makes an engine that hands driver_context to every function of the portability layer. */
int32_t dla_register_driver(void **engine_context, void *driver_context);

/* Starts a task: reads its descriptors, fills the register groups. config_data is a struct
   dla_config. Callers of the older form with two arguments get the core's own configuration. */
int32_t dla_execute_task(void *engine_context, void *task_data, void *config_data);

/* To be called when the interrupt line is up: notes what has ended and clears the line. */
int32_t dla_isr_handler(void *engine_context);

/* Acts on what dla_isr_handler noted. *task_complete becomes 1 with the last operation; nothing is
   written before. */
int32_t dla_process_events(void *engine_context, uint32_t *task_complete);

/* Forgets the task. */
void dla_clear_task(void *engine_context);

/* --- the portability layer -------------------------------------------------------------------- */

/* Registers by byte offset in the register space. */
uint32_t dla_reg_read(void *driver_context, uint32_t addr);
void dla_reg_write(void *driver_context, uint32_t addr, uint32_t reg);

/* Copies between local memory and a buffer of the task. src and dst name the buffer: a number that
   dla_get_dma_address gave for DESTINATION_PROCESSOR. */
int32_t dla_data_read(void *driver_context, void *task_data, uint64_t src, void *dst,
                      uint32_t size, uint64_t offset);
int32_t dla_data_write(void *driver_context, void *task_data, void *src, uint64_t dst,
                       uint32_t size, uint64_t offset);

#define DESTINATION_PROCESSOR 0
#define DESTINATION_DMA 1

/* Writes a uint64_t to dst_ptr: how the processor (a buffer for dla_data_read) or the engine (a bus
   address) reaches entry `index` of the task's address list. -22 for an index that is not there. */
int32_t dla_get_dma_address(void *driver_context, void *task_data, int16_t index, void *dst_ptr,
                            uint32_t destination);

#if defined(NVDLA_SW_MANUAL) || defined(CUDLA_SIM_PARSE)
/* The same two answers, as the software manual has them. The drivers in the field keep static
   functions with these names and other parameters, hence the switch. */
int32_t dla_read_dma_address(void *task_desc, int16_t index, void *dst);
int32_t dla_read_cpu_address(void *task_desc, int16_t index, void *dst);
#endif

/* Microseconds of a clock that only goes forward. */
int64_t dla_get_time_us(void);

void *dla_memset(void *src, int ch, uint64_t len);
void *dla_memcpy(void *dest, const void *src, uint64_t len);

/* The console, by severity. Debug and info messages appear with CUDLA_SIM_LOG=firmware. */
void dla_debug(const char *str, ...);
void dla_info(const char *str, ...);
void dla_warn(const char *str, ...);
void dla_error(const char *str, ...);

#ifdef __cplusplus
}
#endif

#endif
