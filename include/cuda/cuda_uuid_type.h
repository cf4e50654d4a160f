/* SPDX-License-Identifier: Apache-2.0
 *
 * cuda_uuid_type.h - the one structure that the driver and the runtime interface both define.
 */
#ifndef CUDLA_SIM_CUDA_UUID_TYPE_H
#define CUDLA_SIM_CUDA_UUID_TYPE_H

/* Third-party headers that bring their own copy test the same macro. */
#ifndef CU_UUID_HAS_BEEN_DEFINED
#define CU_UUID_HAS_BEEN_DEFINED
struct CUuuid_st {
    char bytes[16];
};
typedef struct CUuuid_st CUuuid;
#endif

#endif /* CUDLA_SIM_CUDA_UUID_TYPE_H */
