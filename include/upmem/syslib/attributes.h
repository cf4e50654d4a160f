/* Where DPU data lies. MRAM pointers are plain pointers here: MRAM is mapped. */
#ifndef UPMEM_SYSLIB_ATTRIBUTES_H
#define UPMEM_SYSLIB_ATTRIBUTES_H

#define __mram_ptr

/* C++ programs may include these headers as they are, or in an extern "C" of their own. */
#ifdef __cplusplus
#define __RT_C_BEGIN extern "C" {
#define __RT_C_END }
#else
#define __RT_C_BEGIN
#define __RT_C_END
#endif

#define __section(s) __attribute__((section(s)))
#define __aligned(a) __attribute__((aligned(a)))
#define __used __attribute__((used))
#define __noinline __attribute__((noinline))
#define __weak __attribute__((weak))
#define __keep __used

/* A DMA address must be a multiple of 8. */
#define __dma_aligned __aligned(8)

#define __host __attribute__((aligned(8), used, section(".data.__sys_host")))

/* Names that begin with .bss take no room in an object file; the linker script sorts them. */
#define __mram __attribute__((aligned(8), used, section(".mram")))
#define __mram_noinit __attribute__((aligned(8), used, section(".bss.mram.noinit")))
#define __mram_keep __attribute__((aligned(8), used, section(".mram.keep")))
#define __mram_noinit_keep __attribute__((aligned(8), used, section(".bss.mram.noinit.keep")))

#define __atomic_bit __attribute__((aligned(1), section(".bss.dpu.atomic")))
#define __atomic_used_bit __attribute__((aligned(1), used, section(".bss.dpu.atomic")))
#define __lower_data(name) __attribute__((used, section(".data.immediate_memory." name)))

/* Keeps the caller visible: a fault in the function is explained by the line that called it. */
#ifdef __clang__
#define __RT_CALLED __attribute__((not_tail_called))
#else
#define __RT_CALLED
#endif

#define __NO_RETURN __attribute__((noreturn))

/* Ends the tasklet: one call for each place of the program, so that a fault names its line. */
#ifdef __clang__
#define __RT_ENDS __attribute__((noreturn, nomerge))
#else
#define __RT_ENDS __NO_RETURN
#endif

#define DEPRECATED __attribute__((deprecated))

#endif
