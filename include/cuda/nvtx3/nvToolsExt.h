/* SPDX-License-Identifier: Apache-2.0
 *
 * nvtx3/nvToolsExt.h - ranges and marks for a profiler that is not there: each function does nothing and
 * answers what NVTX answers without a tool.
 */
#ifndef CUDLA_SIM_NVTOOLSEXT_H
#define CUDLA_SIM_NVTOOLSEXT_H

/* Nothing here is exported; the generator of our bindings sees an empty header. */
#if !defined(CUDLA_SIM_PARSE)

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)sizeof(nvtxEventAttributes_t))

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
    NVTX_MESSAGE_UNKNOWN = 0,
    NVTX_MESSAGE_TYPE_ASCII = 1,
    NVTX_MESSAGE_TYPE_UNICODE = 2,
    NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
    NVTX_PAYLOAD_UNKNOWN = 0,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
    NVTX_PAYLOAD_TYPE_INT64 = 2,
    NVTX_PAYLOAD_TYPE_DOUBLE = 3,
    NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
    NVTX_PAYLOAD_TYPE_INT32 = 5,
    NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;

typedef union nvtxMessageValue_t {
    const char *ascii;
    const wchar_t *unicode;
    nvtxStringHandle_t registered;
} nvtxMessageValue_t;

typedef struct nvtxEventAttributes_v2 {
    uint16_t version;
    uint16_t size;
    uint32_t category;
    int32_t colorType;
    uint32_t color;
    int32_t payloadType;
    int32_t reserved0;
    union {
        uint64_t ullValue;
        int64_t llValue;
        double dValue;
        uint32_t uiValue;
        int32_t iValue;
        float fValue;
    } payload;
    int32_t messageType;
    nvtxMessageValue_t message;
} nvtxEventAttributes_v2, nvtxEventAttributes_t;

#define CUDLA_SIM_NVTX static inline __attribute__((unused))

CUDLA_SIM_NVTX void nvtxInitialize(const void *reserved) {
    (void)reserved;
}
CUDLA_SIM_NVTX void nvtxMarkEx(const nvtxEventAttributes_t *event) {
    (void)event;
}
CUDLA_SIM_NVTX void nvtxMarkA(const char *message) {
    (void)message;
}
CUDLA_SIM_NVTX void nvtxMarkW(const wchar_t *message) {
    (void)message;
}
CUDLA_SIM_NVTX nvtxRangeId_t nvtxRangeStartEx(const nvtxEventAttributes_t *event) {
    (void)event;
    return 0;
}
CUDLA_SIM_NVTX nvtxRangeId_t nvtxRangeStartA(const char *message) {
    (void)message;
    return 0;
}
CUDLA_SIM_NVTX nvtxRangeId_t nvtxRangeStartW(const wchar_t *message) {
    (void)message;
    return 0;
}
CUDLA_SIM_NVTX void nvtxRangeEnd(nvtxRangeId_t id) {
    (void)id;
}
CUDLA_SIM_NVTX int nvtxRangePushEx(const nvtxEventAttributes_t *event) {
    (void)event;
    return NVTX_NO_PUSH_POP_TRACKING;
}
CUDLA_SIM_NVTX int nvtxRangePushA(const char *message) {
    (void)message;
    return NVTX_NO_PUSH_POP_TRACKING;
}
CUDLA_SIM_NVTX int nvtxRangePushW(const wchar_t *message) {
    (void)message;
    return NVTX_NO_PUSH_POP_TRACKING;
}
CUDLA_SIM_NVTX int nvtxRangePop(void) {
    return NVTX_NO_PUSH_POP_TRACKING;
}
CUDLA_SIM_NVTX void nvtxNameCategoryA(uint32_t category, const char *name) {
    (void)category, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameOsThreadA(uint32_t thread, const char *name) {
    (void)thread, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameCategoryW(uint32_t category, const wchar_t *name) {
    (void)category, (void)name;
}
CUDLA_SIM_NVTX void nvtxNameOsThreadW(uint32_t thread, const wchar_t *name) {
    (void)thread, (void)name;
}
CUDLA_SIM_NVTX nvtxDomainHandle_t nvtxDomainCreateA(const char *name) {
    (void)name;
    return NULL;
}
CUDLA_SIM_NVTX nvtxDomainHandle_t nvtxDomainCreateW(const wchar_t *name) {
    (void)name;
    return NULL;
}
CUDLA_SIM_NVTX nvtxStringHandle_t nvtxDomainRegisterStringW(nvtxDomainHandle_t domain, const wchar_t *string) {
    (void)domain, (void)string;
    return NULL;
}
CUDLA_SIM_NVTX void nvtxDomainNameCategoryW(nvtxDomainHandle_t domain, uint32_t category, const wchar_t *name) {
    (void)domain, (void)category, (void)name;
}
CUDLA_SIM_NVTX void nvtxDomainDestroy(nvtxDomainHandle_t domain) {
    (void)domain;
}
CUDLA_SIM_NVTX nvtxStringHandle_t nvtxDomainRegisterStringA(nvtxDomainHandle_t domain, const char *string) {
    (void)domain, (void)string;
    return NULL;
}
CUDLA_SIM_NVTX void nvtxDomainNameCategoryA(nvtxDomainHandle_t domain, uint32_t category, const char *name) {
    (void)domain, (void)category, (void)name;
}
CUDLA_SIM_NVTX void nvtxDomainMarkEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    (void)domain, (void)event;
}
CUDLA_SIM_NVTX nvtxRangeId_t nvtxDomainRangeStartEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    (void)domain, (void)event;
    return 0;
}
CUDLA_SIM_NVTX void nvtxDomainRangeEnd(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
    (void)domain, (void)id;
}
CUDLA_SIM_NVTX int nvtxDomainRangePushEx(nvtxDomainHandle_t domain, const nvtxEventAttributes_t *event) {
    (void)domain, (void)event;
    return NVTX_NO_PUSH_POP_TRACKING;
}
CUDLA_SIM_NVTX int nvtxDomainRangePop(nvtxDomainHandle_t domain) {
    (void)domain;
    return NVTX_NO_PUSH_POP_TRACKING;
}

#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#define nvtxDomainNameCategory nvtxDomainNameCategoryA

#endif /* !CUDLA_SIM_PARSE */

#endif /* CUDLA_SIM_NVTOOLSEXT_H */
