/* What the headers need of <stdint.h>, for the parser only. */
#ifndef CUDLA_SIM_PARSE_STDINT_H
#define CUDLA_SIM_PARSE_STDINT_H
typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long uint64_t;
typedef long intptr_t;
typedef unsigned long uintptr_t;
#define INT64_MAX 0x7fffffffffffffffL
#define INT32_MAX 0x7fffffff
#define UINT32_MAX 0xffffffffU
#define UINT64_MAX 0xffffffffffffffffUL
#endif
