/*
 * pvasdk_platform.h - names of the VPU executables that the build embeds in a program. C and C++.
 */
#ifndef CUDLA_SIM_CUPVA_PVASDK_PLATFORM_H
#define CUDLA_SIM_CUPVA_PVASDK_PLATFORM_H

#include <stdint.h>

/* C linkage, so that a declaration inside a namespace names the same object. */
#ifdef __cplusplus
#define PVA_DECLARE_EXECUTABLE(name) \
    extern "C" int32_t _cupva_exe_size_##name; \
    extern "C" uint8_t _cupva_exe_data_##name[];
#else
#define PVA_DECLARE_EXECUTABLE(name) \
    extern int32_t _cupva_exe_size_##name; \
    extern uint8_t _cupva_exe_data_##name[];
#endif

#define PVA_EXECUTABLE_DATA(name) (_cupva_exe_data_##name)
#define PVA_EXECUTABLE_SIZE(name) (_cupva_exe_size_##name)

#endif
