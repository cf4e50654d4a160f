/* Triggers and syncs, sizes of buffers, and where things lie. */
#ifndef CUPVA_DEVICE_CORE_H
#define CUPVA_DEVICE_CORE_H

#include "../cupva_types.h"

/* --- dataflows in general --- */

/* The handler of a StaticDataFlow: VMEM(bank, uint32_t, name). */
typedef uint32_t StaticDataFlowHandler;

/* Starts what one trigger of the dataflow moves. */
static inline void cupvaDataFlowTrig(uint32_t handler)
{
    pva_rt_trigger(handler);
}

/* Waits until what the last trigger started has been moved. */
static inline void cupvaDataFlowSync(uint32_t handler)
{
    pva_rt_sync(handler);
}

/* --- sizes of buffers, in elements --- */

#define PVA_CHOOSE4(a, b, c, d, chosen, ...) chosen
#define CUPVA_SINGLE_BUFFER_LENGTH(...) \
    PVA_CHOOSE4(__VA_ARGS__, PVA_SBL4, PVA_SBL3, PVA_SBL2, )(__VA_ARGS__)
#define PVA_SBL4(tw, th, hx, hy) (((tw) + 2 * (hx)) * ((th) + 2 * (hy)))
#define PVA_SBL3(tw, th, hx) PVA_SBL4(tw, th, hx, 0)
#define PVA_SBL2(tw, th) PVA_SBL4(tw, th, 0, 0)

#define PVA_ALIGN64(bytes) (((bytes) + 63) / 64 * 64)

/* Two tiles, rounded up to 64 bytes together. */
#define CUPVA_DOUBLE_BUFFER_LENGTH(type, ...) \
    (PVA_ALIGN64(2 * CUPVA_SINGLE_BUFFER_LENGTH(__VA_ARGS__) * sizeof(type)) / sizeof(type))
/* Two tiles side by side in one ring, and a line more. */
#define CUPVA_CIRCULAR_BUFFER_LENGTH(type, ...)                                              \
    ((PVA_ALIGN64(2 * CUPVA_SINGLE_BUFFER_LENGTH(__VA_ARGS__) * sizeof(type))                \
      + CIRCULAR_BUFFER_EXTRA_BYTES)                                                         \
     / sizeof(type))

/* RDF_SINGLE(type, tw, th[, hx, hy[, transMode]]); likewise the others. */
#define PVA_RDF_ARGUMENTS(a, b, c, d, e, chosen, ...) chosen
#define RDF_SINGLE(type, ...)                                                                \
    PVA_RDF_ARGUMENTS(__VA_ARGS__, PVA_RS5, PVA_RS4, PVA_RS3, PVA_RS2, )(type, __VA_ARGS__)
#define PVA_RS2(type, tw, th) PVA_SBL2(tw, th)
#define PVA_RS3(type, tw, th, hx) PVA_SBL3(tw, th, hx)
#define PVA_RS4(type, tw, th, hx, hy) PVA_SBL4(tw, th, hx, hy)
#define PVA_RS5(type, tw, th, hx, hy, mode)                                                  \
    ((TRANSPOSITION_LINE_PITCH(((tw) + 2 * (hx)) * sizeof(type), mode, sizeof(type))         \
      * ((th) + 2 * (hy)))                                                                   \
     / sizeof(type))

#define RDF_DOUBLE(type, ...)                                                                \
    (PVA_ALIGN64(2 * RDF_SINGLE(type, __VA_ARGS__) * sizeof(type)) / sizeof(type))
#define RDF_CIRCULAR(type, ...)                                                              \
    ((PVA_ALIGN64(2 * RDF_SINGLE(type, __VA_ARGS__) * sizeof(type))                          \
      + CIRCULAR_BUFFER_EXTRA_BYTES)                                                         \
     / sizeof(type))
#define RDF_CIRCULAR_ROWMAJOR(type, ...) RDF_CIRCULAR(type, __VA_ARGS__)
#define RDF_CIRCULAR_COLUMNMAJOR(type, ...) RDF_CIRCULAR(type, __VA_ARGS__)

/* TDF_SINGLE(type, tw, th, tz[, hx, hy]). */
#define TDF_SINGLE(type, tw, th, tz, ...) (RDF_SINGLE(type, tw, th, ##__VA_ARGS__) * (tz))
#define TDF_DOUBLE(type, tw, th, tz, ...) (RDF_DOUBLE(type, tw, th, ##__VA_ARGS__) * (tz))

/* Copies the first 64 bytes of a ring of `size` bytes behind its end, so that a vector that begins
 * near the end finds what follows. */
static inline void cupvaCircularBufferMemcpy(void *cb, uint32_t size)
{
    __builtin_memcpy((uint8_t *)cb + size, cb, CIRCULAR_BUFFER_EXTRA_BYTES);
}

/* --- the machine --- */

/* Whether an operation that makes a NaN ends the kernel (VpuFloatingPointNotANumber), as it does
 * when a kernel begins. */
static inline void cupvaFloatingPointNANErrorEnabled(bool enabled)
{
    pva_rt_nan_errors(enabled);
}

/* 0 or 1: the VPU of the engine that runs this kernel. */
static inline uint32_t cupvaGetVpuId(void)
{
    return pva_rt_vpu_id();
}

static inline void *cupvaGetVmemBase(void)
{
    return (void *)(uintptr_t)0x10000000;
}

/* The offset in VMEM that DMA uses for an object. */
static inline uint32_t cupvaGetVmemAddress(const volatile void *object)
{
    return (uint32_t)((uintptr_t)object - 0x10000000);
}

/* L2SRAM as the VPU addresses it; a kernel reaches it by dataflows only. */
static inline uint64_t cupvaGetL2Base(void)
{
    return (uint64_t)CUPVA_IOVA_L2SRAM << CUPVA_IOVA_SPACE_SHIFT;
}

static inline uint32_t cupvaGetL2Size(void)
{
    return 1u << 20;
}

/*
 * Descriptors of the DMA, as ConfigDataFlow writes to them. Its table in VMEM (VMEM_DMA_CONFIG) has a
 * header, the number of entries and 0xDEADC0DE, and entries of a value and an address, two words
 * each. A trigger of the ConfigDataFlow writes all entries; they count from the next time that the
 * descriptor begins.
 *
 * SRC_ADR and DST_ADR: bits 31..0 of an address, of VMEM as cupvaGetVmemAddress() gives it. TILE_CNTL:
 * width in bits 15..0, height above. LP_CNTL: line pitch of the source in bits 15..0, of the
 * destination above. SRCPT and DSTPT: advance in bits 23..0 (signed), repetitions - 1 above. In
 * pixels. The other words cannot be written here.
 */
struct PvaDmaDescriptor {
    uint32_t DESCR_CNTL, SRC_ADR, DST_ADR, TILE_CNTL, LP_CNTL, SRCPT1_CNTL, DSTPT1_CNTL, SRCPT2_CNTL,
        DSTPT2_CNTL, SRCPT3_CNTL, DSTPT3_CNTL, BFSTART_CNTL, BFSIZE_CNTL, EVENT_CNTL, TRANS_CNTL,
        NDTM_CNTL;
};

static inline uint32_t cupvaGetDmaDescBase(void)
{
    return PVA_DMA_DESCRIPTORS_AT;
}

/* The address of a word of the descriptor of a StaticDataFlow, whose number is StaticDataFlow::id(). */
#define CUPVA_GET_DESC_ATTR_ADDR(id, attribute)                   \
    (cupvaGetDmaDescBase() + (uint32_t)(id) * (uint32_t)sizeof(PvaDmaDescriptor)                  \
     + (uint32_t)offsetof(PvaDmaDescriptor, attribute))

/* Registers of the DMA: a kernel that programs the engine itself stops with this explanation. */
[[noreturn]] static inline uint32_t pvaNoRegisters(void)
{
    pva_rt_misuse("the registers of the DMA do not exist in native mode");
}
static inline uint32_t cupvaGetHwseqRamBase(void)
{
    return pvaNoRegisters();
}
static inline uint32_t cupvaGetChannelRegAddr(uint32_t)
{
    return pvaNoRegisters();
}

static inline void cupvaGetL2ExtMemPointer(ExtMemPointer *pointer, int64_t offset)
{
    pointer->base = cupvaGetL2Base();
    pointer->offset = offset;
}

#endif
