/* NvDlaLoadable.h - the numbers and list entries of a loadable, for C. */
#ifndef NVDLA_LOADABLE_C_H
#define NVDLA_LOADABLE_C_H

#include <stddef.h>

#include "NvDlaType.h"

/* who executes a task */
#define NVDLA_LOADABLE_INTERFACE_NONE 0U
#define NVDLA_LOADABLE_INTERFACE_DLA1 1U
#define NVDLA_LOADABLE_INTERFACE_EMU1 2U

/* which list of a task a blob is */
#define NVDLA_LOADABLE_SUB_INTERFACE_DLA1_NONE 0U
#define NVDLA_LOADABLE_SUB_INTERFACE_DLA1_ADDR0 1U
#define NVDLA_LOADABLE_SUB_INTERFACE_DLA1_DEPS 2U
#define NVDLA_LOADABLE_SUB_INTERFACE_DLA1_OPS 3U
#define NVDLA_LOADABLE_SUB_INTERFACE_DLA1_SURFS 4U
#define NVDLA_LOADABLE_SUB_INTERFACE_DLA1_LUTS 5U
#define NVDLA_LOADABLE_SUB_INTERFACE_EMU1_NONE 0U
#define NVDLA_LOADABLE_SUB_INTERFACE_EMU1_ADDR0 1U
#define NVDLA_LOADABLE_SUB_INTERFACE_EMU1_OPS 3U
#define NVDLA_LOADABLE_SUB_INTERFACE_EMU1_SURFS 4U

#define NVDLA_LOADABLE_MEMORY_DOMAIN_SYSMEM 0U
#define NVDLA_LOADABLE_MEMORY_DOMAIN_SRAM 1U

#define NVDLA_LOADABLE_MEMORY_FLAGS_NONE 0U
#define NVDLA_LOADABLE_MEMORY_FLAGS_ALLOC 1U
#define NVDLA_LOADABLE_MEMORY_FLAGS_SET 2U
#define NVDLA_LOADABLE_MEMORY_FLAGS_INPUT 4U
#define NVDLA_LOADABLE_MEMORY_FLAGS_OUTPUT 8U
#define NVDLA_LOADABLE_MEMORY_FLAGS_DEBUG 16U

#define NVDLA_LOADABLE_EVENT_OP_WAIT 0U
#define NVDLA_LOADABLE_EVENT_OP_SIGNAL 1U

#define NVDLA_LOADABLE_TENSOR_DESC_NUM_STRIDES 8U

struct NvDlaLoadableI;
typedef struct NvDlaLoadable {
    void *self;
    const struct NvDlaLoadableI *i;
} NvDlaLoadable;

struct NvDlaLoadableI {
    const char *(*getName)(NvDlaLoadable);
};

typedef struct NvDlaLoadableVersion {
    NvU8 major;
    NvU8 minor;
    NvU8 subMinor;
} NvDlaLoadableVersion;

typedef struct NvDlaLoadableMemoryListEntry {
    NvU16 id;
    NvU64 size;
    NvU32 alignment;
    NvU8 domain;
    NvU8 flags;
    NvU16 bindId;
    NvU16 tensorDescId;
    size_t numContents;
    NvU8 **contents;
    NvU32 *offsets;
} NvDlaLoadableMemoryListEntry;

typedef struct NvDlaLoadableEventListEntry {
    NvU16 id;
    NvU16 target;
    NvU8 op;
    NvU32 val;
} NvDlaLoadableEventListEntry;

typedef struct NvDlaLoadableTaskListEntry {
    NvU16 id;
    NvU32 interface;
    NvS16 instance; /* -1: any core */
    size_t numPreActions;
    NvU16 *preActions;
    size_t numPostActions;
    NvU16 *postActions;
    NvU16 numAddressList;
    NvU16 *addressList;
} NvDlaLoadableTaskListEntry;

typedef struct NvDlaLoadableAddressListEntry {
    NvU16 id;
    NvU16 memId;
    NvU64 size;
    NvU64 offset;
} NvDlaLoadableAddressListEntry;

typedef struct NvDlaLoadableBlob {
    char *name;
    NvU64 size;
    NvU32 interface;
    NvU32 sub_interface;
    NvDlaLoadableVersion version;
} NvDlaLoadableBlob;

#endif
