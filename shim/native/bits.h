/* Doubles and their bits, and choices without branches: with one the compiler makes no vectors. */
#ifndef CUDLA_SIM_BITS_H
#define CUDLA_SIM_BITS_H

#include <stdint.h>

#define BITS_INLINE static inline __attribute__((always_inline))

BITS_INLINE uint64_t bits_of(double value)
{
    union {
        double number;
        uint64_t bits;
    } it = {value};
    return it.bits;
}

BITS_INLINE double number_of(uint64_t bits)
{
    union {
        uint64_t bits;
        double number;
    } it = {bits};
    return it.number;
}

/* All ones or zero. */
#define FLAG(condition) (0 - (uint64_t)(condition))

BITS_INLINE double choose(uint64_t flag, double yes, double no)
{
    return number_of((bits_of(yes) & flag) | (bits_of(no) & ~flag));
}

#endif
