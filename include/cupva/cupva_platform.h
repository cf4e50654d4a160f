/*
 * cupva_platform.h - the older names of what pvasdk_platform.h has.
 */
#ifndef CUDLA_SIM_CUPVA_CUPVA_PLATFORM_H
#define CUDLA_SIM_CUPVA_CUPVA_PLATFORM_H

#include "pvasdk_platform.h"

#define CUPVA_DECLARE_EXECUTABLE(name) PVA_DECLARE_EXECUTABLE(name)
#define CUPVA_EXECUTABLE_DATA(name) PVA_EXECUTABLE_DATA(name)
#define CUPVA_EXECUTABLE_SIZE(name) PVA_EXECUTABLE_SIZE(name)

#endif
