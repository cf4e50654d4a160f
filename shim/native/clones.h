/* Functions that the compiler makes for several processors; the loader takes the best. */
#ifndef SIM_CLONES_H
#define SIM_CLONES_H

#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("arch=skylake-avx512", "avx2", "default")))
#else
#define CLONES
#endif

#define INLINE static inline __attribute__((always_inline))

#endif
