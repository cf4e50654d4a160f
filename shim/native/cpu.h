/* What instructions compiled functions may use: those of this machine, up to the level of the setting
 * `isa`. */
#ifndef CUDLA_SIM_CPU_H
#define CUDLA_SIM_CPU_H

enum {
    SIM_CPU_AVX2 = 1, /* with F16C */
    SIM_CPU_AVX_VNNI = 2,
    SIM_CPU_AVX512 = 4, /* F, CD, BW, DQ, VL */
    SIM_CPU_AVX512_VNNI = 8,
};

#if defined(__x86_64__)
/* For functions whose loops become vectors of 512 bits. */
#if defined(__clang__)
#define WIDE_VECTORS \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c"), min_vector_width(512)))
#else
#define WIDE_VECTORS \
    __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,f16c,prefer-vector-width=512")))
#endif

#define AVX2_VECTORS __attribute__((target("avx2,f16c")))
#endif

#define INLINE static inline __attribute__((always_inline))

int sim_cpu(void);

/*
 * The function `name` of the inline function `name##_body`: compiled for each level, called for that
 * of this machine.
 */
#if defined(__x86_64__)
#define LEVELS(type, name, parameters, arguments)                                        \
    static type name##_plain parameters { return name##_body arguments; }                \
    AVX2_VECTORS static type name##_256 parameters { return name##_body arguments; }     \
    WIDE_VECTORS static type name##_512 parameters { return name##_body arguments; }     \
    static inline type name parameters                                                   \
    {                                                                                    \
        int cpu = sim_cpu();                                                             \
        return cpu & SIM_CPU_AVX512 ? name##_512 arguments                               \
               : cpu & SIM_CPU_AVX2 ? name##_256 arguments                               \
                                    : name##_plain arguments;                            \
    }

/* The same; the body's last argument is whether this level converts fp16. Of clang a function that is made
 * part of another one may not use more than it could by itself. */
#if defined(__clang__)
#define HAS_F16C 0
#else
#define HAS_F16C 1
#endif
#define LEVELS_OF_HALVES(type, name, parameters, ...)                                       \
    static type name##_plain parameters { return name##_body(__VA_ARGS__, 0); }             \
    AVX2_VECTORS static type name##_256 parameters { return name##_body(__VA_ARGS__, HAS_F16C); } \
    WIDE_VECTORS static type name##_512 parameters { return name##_body(__VA_ARGS__, HAS_F16C); } \
    static inline type name parameters                                                      \
    {                                                                                       \
        int cpu = sim_cpu();                                                                \
        return cpu & SIM_CPU_AVX512 ? name##_512(__VA_ARGS__)                               \
               : cpu & SIM_CPU_AVX2 ? name##_256(__VA_ARGS__)                               \
                                    : name##_plain(__VA_ARGS__);                            \
    }
#else
#define LEVELS(type, name, parameters, arguments)                         \
    static type name##_plain parameters { return name##_body arguments; } \
    static inline type name parameters { return name##_plain arguments; }
#define LEVELS_OF_HALVES(type, name, parameters, ...)                           \
    static type name##_plain parameters { return name##_body(__VA_ARGS__, 0); } \
    static inline type name parameters { return name##_plain(__VA_ARGS__); }
#endif

#endif
