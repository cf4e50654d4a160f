/* SPDX-License-Identifier: Apache-2.0
 *
 * kernels/ptx_module.hpp - what whole modules of PTX need besides their instructions: parameters that are bytes,
 * and the functions that every GPU has (CUDA C++ Programming Guide, "Formatted Output", "Dynamic Global Memory
 * Allocation and Operations", "Assertion"). cudla_sim/cuda_kernels/ptx/module/ writes the calls.
 */
#ifndef CUDLA_SIM_KERNELS_PTX_MODULE_H
#define CUDLA_SIM_KERNELS_PTX_MODULE_H

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace cudla_sim {

/* What all threads of a block have in common. It is a copy, as no store of theirs can be one to it: a compiler cannot
 * know that of variables whose address is known, and stores of PTX have no type. */
struct PtxBlock {
    struct Three {
        uint32_t x, y, z;
    } ctaid, ntid, nctaid;
    SharedMemory shared;

    static PtxBlock here() {
        return {{blockIdx.x, blockIdx.y, blockIdx.z},
                {blockDim.x, blockDim.y, blockDim.z},
                {gridDim.x, gridDim.y, gridDim.z},
                SharedMemory::here()};
    }
};

/* A kernel whose body takes that first. */
template <auto run> struct PtxBody {
    template <class... P> void operator()(P &&...copied) const { run(PtxBlock::here(), copied...); }
    static auto in_block() {
        return [here = PtxBlock::here()](auto... copied) { run(here, copied...); };
    }
};

/* A variable of the module that a kernel in a piece of its own wants to find. */
struct PtxWanted {
    const char *symbol;
    uintptr_t *address;
};

/* A parameter of a structure's type. */
template <unsigned Size, unsigned Alignment> struct alignas(Alignment) PtxBytes {
    unsigned char bytes[Size];
};

/* The arguments lie behind each other, each at its natural alignment: 4 bytes of integers up to int, 8 of others. */
class PtxArguments {
  public:
    explicit PtxArguments(uint64_t at) : at_(at) {}

    template <class T> T next() {
        at_ = (at_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
        T value;
        memcpy(&value, reinterpret_cast<const void *>(at_), sizeof value);
        at_ += sizeof(T);
        return value;
    }

  private:
    uint64_t at_;
};

/* One conversion as the host's printf writes it: with the widths that are arguments before the value. */
template <class T> inline int ptx_print_one(char *to, size_t room, const char *format, const int *widths, int count, T value) {
    if (count == 0)
        return snprintf(to, room, format, value);
    if (count == 1)
        return snprintf(to, room, format, widths[0], value);
    return snprintf(to, room, format, widths[0], widths[1], value);
}

/* How many arguments there are, as a GPU's printf says; the text is written at once, threads do not mix theirs. */
inline uint32_t ptx_vprintf(uint64_t format_at, uint64_t arguments_at) {
    const char *format = reinterpret_cast<const char *>(format_at);
    if (format == nullptr)
        return static_cast<uint32_t>(-1);
    PtxArguments arguments(arguments_at);
    uint32_t count = 0;
    constexpr size_t ROOM = 4096; /* a longer text is cut */
    char text[ROOM];
    size_t used = 0;
    while (*format != '\0' && used + 1 < ROOM) {
        const size_t plain = strcspn(format, "%");
        if (plain > 0) {
            const size_t taken = plain < ROOM - 1 - used ? plain : ROOM - 1 - used;
            memcpy(text + used, format, taken);
            used += taken;
            format += plain;
            continue;
        }
        const size_t head = 1 + strspn(format + 1, "-+ #0123456789.*lhjztL");
        const char kind = format[head];
        char one[64];
        if (kind == '\0' || head + 2 > sizeof one) {
            text[used++] = *format++;
            continue;
        }
        memcpy(one, format, head + 1);
        one[head + 1] = '\0';
        format += head + 1;
        if (kind == '%') {
            text[used++] = '%';
            continue;
        }
        int widths[2] = {0, 0}, given = 0;
        bool wide = false;
        for (size_t i = 1; i < head; i++) {
            if (one[i] == '*' && given < 2) {
                widths[given++] = arguments.next<int>();
                count++;
            }
            wide = wide || one[i] == 'l' || one[i] == 'j' || one[i] == 'z' || one[i] == 't';
        }
        int written = 0;
        char *to = text + used;
        const size_t room = ROOM - used;
        if (strchr("eEfFgGaA", kind))
            written = ptx_print_one(to, room, one, widths, given, arguments.next<double>());
        else if (kind == 's' || kind == 'p')
            written = ptx_print_one(to, room, one, widths, given, reinterpret_cast<void *>(arguments.next<uint64_t>()));
        else if (strchr("diouxXc", kind))
            written = wide ? ptx_print_one(to, room, one, widths, given, arguments.next<int64_t>())
                           : ptx_print_one(to, room, one, widths, given, arguments.next<int32_t>());
        else
            continue;
        count++;
        used += written > 0 ? (static_cast<size_t>(written) < room ? static_cast<size_t>(written) : room - 1) : 0;
    }
    fwrite(text, 1, used, stdout);
    return count;
}

inline uint64_t ptx_malloc(uint64_t size) { return reinterpret_cast<uintptr_t>(::malloc(size ? size : 1)); }
inline void ptx_free(uint64_t memory) { ::free(reinterpret_cast<void *>(memory)); }
inline void ptx_assertfail(uint64_t what, uint64_t file, uint32_t line, uint64_t function, uint64_t) {
    assertion_failed(reinterpret_cast<const char *>(what), reinterpret_cast<const char *>(file), line,
                     reinterpret_cast<const char *>(function));
}

} // namespace cudla_sim

#endif
