/* What the vector implementations of fp16_step.h have in common. A row of the Booth array depends
 * on three bits of the weight and on the input; permutations look it up, or its factor. */
#ifndef CUDLA_SIM_FP16_REDUCE_H
#define CUDLA_SIM_FP16_REDUCE_H

/* The reduction of products(), for vectors: what lies in one row, and how three rows become two. */
#define REDUCE(V, ROW, OR_BITS, AND, XOR3, MAJORITY, TWICE)                             \
    V a0 = ROW(0), a1 = OR_BITS(ROW(1), 1), a2 = OR_BITS(ROW(2), 4);                    \
    V a3 = OR_BITS(ROW(3), 16), a4 = AND(negative, 64);                                 \
    V b0 = ROW(4), b1 = OR_BITS(ROW(5), 1 << 8), b2 = OR_BITS(ROW(6), 1 << 10);         \
    V b3 = OR_BITS(ROW(7), 1 << 12), b4 = AND(negative, 1 << 14);                       \
    V s0 = XOR3(a0, a1, a2), c0 = TWICE(MAJORITY(a0, a1, a2));                          \
    V s1 = XOR3(s0, c0, a3), c1 = TWICE(MAJORITY(s0, c0, a3));                          \
    V s2 = XOR3(s1, c1, a4), c2 = TWICE(MAJORITY(s1, c1, a4));                          \
    V t0 = XOR3(b0, b1, b2), d0 = TWICE(MAJORITY(b0, b1, b2));                          \
    V t1 = XOR3(t0, d0, b3), d1 = TWICE(MAJORITY(t0, d0, b3));                          \
    V t2 = XOR3(t1, d1, b4), d2 = TWICE(MAJORITY(t1, d1, b4));                          \
    V u0 = XOR3(s2, c2, t2), e0 = TWICE(MAJORITY(s2, c2, t2));                          \
    V u1 = XOR3(u0, e0, d2), e1 = TWICE(MAJORITY(u0, e0, d2));

#endif
