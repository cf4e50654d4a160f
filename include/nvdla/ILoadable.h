/*
 * ILoadable.h - a view of the tables of a loadable. The runtime keeps such an object inside; an
 * application meets one only when it also uses the compiler.
 */
#ifndef NVDLA_I_LOADABLE_H
#define NVDLA_I_LOADABLE_H

#include <string>
#include <vector>

#include "IRuntime.h"
#include "IType.h"
#include "c/NvDlaLoadable.h"

/* Some C libraries define these as macros. */
#undef major
#undef minor

namespace nvdla
{

class ILoadable
{
public:
    enum Interface {
        Interface_NONE = NVDLA_LOADABLE_INTERFACE_NONE,
        Interface_DLA1 = NVDLA_LOADABLE_INTERFACE_DLA1,
        Interface_EMU1 = NVDLA_LOADABLE_INTERFACE_EMU1
    };
    enum MemoryDomain {
        MemoryDomain_SYSMEM = NVDLA_LOADABLE_MEMORY_DOMAIN_SYSMEM,
        MemoryDomain_SRAM = NVDLA_LOADABLE_MEMORY_DOMAIN_SRAM
    };
    enum MemoryFlags {
        MemoryFlags_NONE = NVDLA_LOADABLE_MEMORY_FLAGS_NONE,
        MemoryFlags_ALLOC = NVDLA_LOADABLE_MEMORY_FLAGS_ALLOC,
        MemoryFlags_SET = NVDLA_LOADABLE_MEMORY_FLAGS_SET,
        MemoryFlags_INPUT = NVDLA_LOADABLE_MEMORY_FLAGS_INPUT,
        MemoryFlags_OUTPUT = NVDLA_LOADABLE_MEMORY_FLAGS_OUTPUT,
        MemoryFlags_DEBUG = NVDLA_LOADABLE_MEMORY_FLAGS_DEBUG
    };
    enum EventOp {
        EventOp_WAIT = NVDLA_LOADABLE_EVENT_OP_WAIT,
        EventOp_SIGNAL = NVDLA_LOADABLE_EVENT_OP_SIGNAL
    };

    struct Version {
        NvU8 major, minor, sub_minor;
        Version() : major(0), minor(0), sub_minor(0) {}
        Version(NvU8 major_, NvU8 minor_, NvU8 sub) : major(major_), minor(minor_), sub_minor(sub) {}
        void toC(NvDlaLoadableVersion &c) const
        {
            c.major = major;
            c.minor = minor;
            c.subMinor = sub_minor;
        }
    };

    struct MemoryListEntry {
        NvU16 id;
        NvU64 size;
        NvU32 alignment; /* bytes; 0: any */
        NvU8 domain;
        static NvU8 domain_sysmem() { return MemoryDomain_SYSMEM; }
        static NvU8 domain_sram() { return MemoryDomain_SRAM; }
        NvU8 flags;
        static NvU8 flags_alloc() { return MemoryFlags_ALLOC; }
        static NvU8 flags_set() { return MemoryFlags_SET; }
        static NvU8 flags_input() { return MemoryFlags_INPUT; }
        static NvU8 flags_output() { return MemoryFlags_OUTPUT; }
        static NvU8 flags_debug() { return MemoryFlags_DEBUG; }
        NvU16 bind_id;        /* with flag INPUT, OUTPUT or DEBUG */
        NvU16 tensor_desc_id; /* likewise */
        std::vector<std::string> contents; /* names of blobs */
        std::vector<uint64_t> offsets;     /* and where each one goes */

        MemoryListEntry() : id(0), size(0), alignment(0), domain(0), flags(0), bind_id(0),
                            tensor_desc_id(0) {}
        MemoryListEntry(NvU16 id_, NvU64 size_, NvU32 alignment_, NvU8 domain_, NvU8 flags_,
                        std::string symbol = std::string(), uint64_t offset = 0)
            : id(id_), size(size_), alignment(alignment_), domain(domain_), flags(flags_),
              bind_id(0), tensor_desc_id(0)
        {
            if (!symbol.empty()) {
                contents.push_back(symbol);
                offsets.push_back(offset);
            }
        }
    };

    struct EventListEntry {
        NvU16 id;
        NvU16 target;
        NvU8 op;
        static NvU8 op_wait() { return EventOp_WAIT; }
        static NvU8 op_signal() { return EventOp_SIGNAL; }
        NvU32 val;
        void toC(NvDlaLoadableEventListEntry &c) const
        {
            c.id = id;
            c.target = target;
            c.op = op;
            c.val = val;
        }
    };

    struct TaskListEntry {
        NvU16 id;
        NvU32 interface;
        static NvU32 interface_NONE() { return Interface_NONE; }
        static NvU32 interface_DLA1() { return Interface_DLA1; }
        static NvU32 interface_EMU1() { return Interface_EMU1; }
        NvS16 instance;
        static NvS16 instance_ANY() { return -1; }
        std::vector<NvU16> preactions;
        std::vector<NvU16> postactions;
        std::vector<NvU16> address_list;
        TaskListEntry() : id(0), interface(Interface_NONE), instance(-1) {}
    };

    struct SubmitListEntry {
        NvU16 id;
        std::vector<NvU16> tasks;
    };

    struct AddressListEntry {
        NvU16 id;
        NvU16 mem_id;
        NvU64 size;
        NvU64 offset;
        AddressListEntry() : id(0), mem_id(0), size(0), offset(0) {}
        AddressListEntry(NvU16 id_, NvU16 mem, NvU64 size_, NvU64 offset_ = 0)
            : id(id_), mem_id(mem), size(size_), offset(offset_) {}
        void toC(NvDlaLoadableAddressListEntry &c) const
        {
            c.id = id;
            c.memId = mem_id;
            c.size = size;
            c.offset = offset;
        }
    };

    struct TensorDescListEntry {
        std::string name;
        NvU16 id;
        NvU16 memId;
        NvU64 size;
        NvU64 offset;
        NvDlaDims4 dims;
        NvU8 dataFormat;
        NvU8 dataType;
        NvU8 dataCategory;
        NvU8 pixelFormat;
        NvU8 pixelMapping;
        NvU32 stride[NVDLA_LOADABLE_TENSOR_DESC_NUM_STRIDES];
    };

    /* Where in memory `writeId` a stride of the tensor at `addressListId` is stored. */
    struct RelocEntry {
        NvU16 addressListId;
        NvU16 writeId;
        NvU64 offset;
        NvU32 interface;
        NvU32 subInterface;
        NvU8 relocType; /* 1: line stride, 2: surface stride */
        RelocEntry(NvS16 address, NvU64 offset_, NvU32 interface_, NvU32 sub, NvU8 type)
            : addressListId(address), writeId(0), offset(offset_), interface(interface_),
              subInterface(sub), relocType(type) {}
        RelocEntry(NvS16 address, NvS16 write, NvU64 offset_, NvU32 interface_, NvU32 sub,
                   NvU8 type)
            : addressListId(address), writeId(write), offset(offset_), interface(interface_),
              subInterface(sub), relocType(type) {}
    };

    struct Blob {
        std::string name;
        NvU64 size;
        Interface interface;
        NvU32 subInterface;
        Version version;
        Blob() : size(0), interface(Interface_NONE), subInterface(0) {}
        Blob(const std::string &name_, NvU64 size_, Interface interface_, NvU32 sub, Version v)
            : name(name_), size(size_), interface(interface_), subInterface(sub), version(v) {}
    };

    virtual std::string getName() const = 0;

    virtual int getNumMemoryListEntries() const = 0;
    virtual MemoryListEntry getMemoryListEntry(NvU16 mem_id) const = 0;
    virtual int getNumEventListEntries() const = 0;
    virtual EventListEntry getEventListEntry(NvU16 event_id) const = 0;
    virtual int getNumTaskListEntries() const = 0;
    virtual TaskListEntry getTaskListEntry(NvU16 task_id) const = 0;
    virtual int getNumAddressListEntries() const = 0;
    virtual AddressListEntry getAddressListEntry(NvU16 i) const = 0;
    virtual int getNumTensorDescListEntries() const = 0;
    virtual TensorDescListEntry getTensorDescListEntry(NvU16 i) const = 0;

    virtual NvDlaError getNetworkDataType(DataType::UnderlyingType *) const = 0;
    virtual NvDlaError getNumInputTensors(int *) const = 0;
    virtual NvDlaError getInputTensorDesc(NvU16 id, ILoadable::TensorDescListEntry *) const = 0;
    virtual NvDlaError getNumOutputTensors(int *) const = 0;
    virtual NvDlaError getOutputTensorDesc(NvU16 id, ILoadable::TensorDescListEntry *) const = 0;

protected:
    ILoadable();
    virtual ~ILoadable();
};

} // namespace nvdla

#endif
