/* The integer division that a thread of a kernel stopped at. */
#ifndef CUDLA_SIM_CUDA_DIVISION_H
#define CUDLA_SIM_CUDA_DIVISION_H

#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct division {
    unsigned bits;
    int by_zero; /* 0: the quotient does not fit */
    uint64_t dividend;
    size_t bytes; /* of the instruction */
};

/* 0 where it is another instruction. */
int division_read(const mcontext_t *machine, struct division *out);
void division_go_on(mcontext_t *machine, const struct division *of, uint64_t quotient, uint64_t remainder);

#endif
