/*
 * Variables in VMEM, the main function, and what the runtime of a native kernel offers.
 *
 * A variable lies in a section of its own, `.vmem.<bank>.<x|n>.<name>`; the linker places it in its
 * superbank, with a gap behind it by which overruns are found. Exported variables leave a record
 * that the linker turns into the executable's list of symbols.
 */
#ifndef CUPVA_DEVICE_NATIVE_H
#define CUPVA_DEVICE_NATIVE_H

#include <stdint.h>

/* --- the runtime --- */

/* One tile of a gather or scatter, in pixels; vmem: byte offset. width, height: of the memory
 * outside, 0 for no limit. external: its address as a VPU sees it, or that of the host's dataflow, whose
 * pitch counts then, too. */
#define PVA_GATHER_FROM_HOST UINT64_MAX
struct pva_gather {
    int64_t x, y, width, height;
    uint32_t w, h, pitch, vmem, pad_mode;
    int32_t external_pitch;
    uint64_t external;
};

extern "C" {
void pva_rt_trigger(uint32_t flow);
void pva_rt_sync(uint32_t flow);
void pva_rt_hold(uint32_t flow, int held);
void pva_rt_stage_side(uint32_t flow, uint32_t index, int destination, int space, uint64_t at,
                       int64_t pitch);
void pva_rt_stage_tile(uint32_t flow, uint32_t index, uint32_t tx, uint32_t ty);
void pva_rt_flush(uint32_t flow);
void pva_rt_gather(uint32_t flow, const struct pva_gather *gather);
void pva_rt_gather_sync(uint32_t flow);
[[noreturn]] void pva_rt_misuse(const char *text);
uint32_t pva_rt_vpu_id(void);
void pva_rt_nan_errors(int enabled);
}

/* --- the main function --- */

/* `main` is the one function of C++ that returns 0 when it ends without return, as kernels in the
 * wild do; the toolchain renames it. */
#undef CUPVA_VPU_MAIN_SYMBOL
#define CUPVA_VPU_MAIN_SYMBOL main
#define CUPVA_VPU_MAIN() int32_t CUPVA_VPU_MAIN_SYMBOL()

#define CUPVA_VPU_ASSERT(condition) assert(condition)

/* --- records of exported variables --- */

/* As Kind in cudla_sim.cupva.executable. */
enum pva_symbol_kind {
    PVA_SYMBOL_DATA = 0,
    PVA_SYMBOL_RASTER = 1,
    PVA_SYMBOL_TENSOR = 2,
    PVA_SYMBOL_SEQUENCE = 3,
    PVA_SYMBOL_GATHER_SCATTER = 4,
    PVA_SYMBOL_DYNAMIC = 5,
    PVA_SYMBOL_CONFIG = 6,
    PVA_SYMBOL_POINTER = 7,
    PVA_SYMBOL_SURFACE = 8,
    PVA_SYMBOL_RASTER_UNIFIED = 9
};

template <typename T> struct pva_kind_of {
    static constexpr uint64_t value = PVA_SYMBOL_DATA;
};
template <> struct pva_kind_of<ExtMemPointer> {
    static constexpr uint64_t value = PVA_SYMBOL_POINTER;
};
template <> struct pva_kind_of<VPUSurfaceData> {
    static constexpr uint64_t value = PVA_SYMBOL_SURFACE;
};
template <typename T> struct pva_plain {
    typedef T type;
};
template <typename T> struct pva_plain<T &> {
    typedef T type;
};

struct pva_export_record {
    char name[104]; /* the whole is 128 bytes */
    const volatile void *address;
    uint64_t size;
    uint64_t kind;
};

#define PVA_RECORD(variable, exported, kind)                                               \
    __attribute__((used, section(".cupva_exports"), aligned(64))) static const pva_export_record        \
        pva_export_of_##exported = {#exported, &(variable), sizeof(variable), kind}
#define PVA_KIND(variable) (pva_kind_of<pva_plain<decltype((variable))>::type>::value)

/* --- variables --- */

#define PVA_ALIGN_OF(type) \
    (sizeof(type) >= 64 ? 64 : alignof(type) > 4 ? alignof(type) : 4)
#define PVA_SECTION(bank, how, name) __attribute__((section(".vmem." #bank "." #how "." #name)))
#define PVA_PICK(a, b, c, d, e, f, picked, ...) picked

#define PVA_SCALAR(bank, how, type, name) \
    PVA_SECTION(bank, how, name) __attribute__((used, aligned(PVA_ALIGN_OF(type)))) type name
#define PVA_ARRAY(bank, how, type, name, ...) \
    PVA_SECTION(bank, how, name) __attribute__((used, aligned(64))) type name PVA_DIMS(__VA_ARGS__)
#define PVA_DIMS(...) PVA_PICK(__VA_ARGS__, PVA_D6, PVA_D5, PVA_D4, PVA_D3, PVA_D2, PVA_D1, )(__VA_ARGS__)
#define PVA_D1(a) [a]
#define PVA_D2(a, b) [a][b]
#define PVA_D3(a, b, c) [a][b][c]
#define PVA_D4(a, b, c, d) [a][b][c][d]
#define PVA_D5(a, b, c, d, e) [a][b][c][d][e]
#define PVA_D6(a, b, c, d, e, f) [a][b][c][d][e][f]

/* VMEM(bank, type, name[, height[, width]]): exported, zero unless initialised. */
#define VMEM(...) \
    PVA_PICK(__VA_ARGS__, VMEM_A6, VMEM_A5, VMEM_A4, VMEM_S3, , , )(__VA_ARGS__)
#define VMEM_S3(bank, type, name)                  \
    extern type name;                              \
    PVA_RECORD(name, name, PVA_KIND(name));        \
    PVA_SCALAR(bank, x, type, name)
#define VMEM_A4(bank, type, name, length)          \
    extern type name[length];                         \
    PVA_RECORD(name, name, PVA_SYMBOL_DATA);       \
    PVA_ARRAY(bank, x, type, name, length)
#define VMEM_A5(bank, type, name, h, w)            \
    extern type name[h][w];                        \
    PVA_RECORD(name, name, PVA_SYMBOL_DATA);       \
    PVA_ARRAY(bank, x, type, name, h, w)
#define VMEM_A6(bank, type, name, d, h, w)         \
    extern type name[d][h][w];                     \
    PVA_RECORD(name, name, PVA_SYMBOL_DATA);       \
    PVA_ARRAY(bank, x, type, name, d, h, w)

/* The same without an export; may have an initialiser. */
#define VMEM_NOEXPORT(...) \
    PVA_PICK(__VA_ARGS__, PVA_N6, PVA_N5, PVA_N4, PVA_N3, , , )(__VA_ARGS__)
#define PVA_N3(bank, type, name) PVA_SCALAR(bank, n, type, name)
#define PVA_N4(bank, type, name, length) PVA_ARRAY(bank, n, type, name, length)
#define PVA_N5(bank, type, name, h, w) PVA_ARRAY(bank, n, type, name, h, w)
#define PVA_N6(bank, type, name, d, h, w) PVA_ARRAY(bank, n, type, name, d, h, w)

/* A variable that another source file of the kernel defines. */
#define EXTERN_VMEM(...) \
    PVA_PICK(__VA_ARGS__, PVA_X6, PVA_X5, PVA_X4, PVA_X3, , , )(__VA_ARGS__)
#define PVA_X3(bank, type, name) extern type name
#define PVA_X4(bank, type, name, length) extern type name[length]
#define PVA_X5(bank, type, name, h, w) extern type name[h][w]
#define PVA_X6(bank, type, name, d, h, w) extern type name[d][h][w]

/* Exports any object in VMEM, or a member of one, under a name. */
#define CUPVA_EXPORT(variable, name) PVA_RECORD(variable, name, PVA_KIND(variable))

#define CUPVA_ALIGNED(bytes) __attribute__((aligned(bytes)))
#define VMEM_VAR(bank, type, name) VMEM_NOEXPORT(bank, type, name)
#define VMEM_POINTER(bank, name) VMEM(bank, ExtMemPointer, name)
#define VMEM_SURFACE(bank, name) VMEM(bank, VPUSurfaceData, name)
/* A table for ConfigDataFlow or DynamicDataFlow: VMEM_DMA_CONFIG(bank, type, name[, height[, width]]) */
#define VMEM_DMA_CONFIG(...) VMEM(__VA_ARGS__)
#define EXTERN_VMEM_DMA_CONFIG(...) EXTERN_VMEM(__VA_ARGS__)
#define EXTERN_VMEM_VAR(bank, type, name) EXTERN_VMEM(bank, type, name)
#define EXTERN_VMEM_POINTER(bank, name) EXTERN_VMEM(bank, ExtMemPointer, name)
#define EXTERN_VMEM_SURFACE(bank, name) EXTERN_VMEM(bank, VPUSurfaceData, name)

#endif
