/* dlatypes.h - the number types of the NVDLA user-mode driver. */
#ifndef INCLUDED_DLATYPES_H
#define INCLUDED_DLATYPES_H

#include <stdbool.h>
#include <stdint.h>

#define NV_TRUE 1
#define NV_FALSE 0

typedef int8_t NvS8;
typedef int16_t NvS16;
typedef int32_t NvS32;
typedef int64_t NvS64;
typedef uint8_t NvU8;
typedef uint16_t NvU16;
typedef uint32_t NvU32;
typedef uint64_t NvU64;
typedef NvU64 NvUPtr;
typedef bool NvBool;
typedef float NvF32;
typedef double NvF64;

#endif
