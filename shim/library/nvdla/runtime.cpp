/*
 * nvdla::IRuntime. This class does only what must pass through functions that a program may bring
 * itself: it opens the device, allocates and frees memory, and submits tasks, through the exported
 * NvDla... names. What the loadable says and what a call means is decided in Python
 * (nvdla/runtime.py) behind the functions of shared.h.
 */
#include "nvdla/IRuntime.h"

#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "nvdla/nvdla_inf.h"
#include "shared.h"

#define EXPORT __attribute__((visibility("default")))

namespace nvdla
{

EXPORT IRuntime::IRuntime() {}
EXPORT IRuntime::~IRuntime() {}

namespace
{

const int INPUT = 0;
const int OUTPUT = 1;

class Runtime final : public IRuntime
{
public:
    explicit Runtime(void *core) : m_core(core) {}
    ~Runtime() override;

    NvU16 getMaxDevices() override;
    NvU16 getNumDevices() override;
    bool initEMU(void) override;
    void stopEMU(void) override;
    bool load(NvU8 *buf, int instance) override;
    void unload(void) override;
    NvDlaError allocateSystemMemory(void **h_mem, NvU64 size, void **pData) override;
    void freeSystemMemory(void *phMem, NvU64 size) override;
    bool bindInputTensor(int index, void *hMem) override;
    bool bindOutputTensor(int index, void *hMem) override;
    NvDlaError getNetworkDataType(uint8_t *dataType) const override;
    NvDlaError getNumInputTensors(int *count) override;
    NvDlaError getInputTensorDesc(int id, NvDlaTensor *desc) override;
    NvDlaError setInputTensorDesc(int id, const NvDlaTensor *desc) override;
    NvDlaError getNumOutputTensors(int *count) override;
    NvDlaError getOutputTensorDesc(int id, NvDlaTensor *desc) override;
    NvDlaError setOutputTensorDesc(int id, const NvDlaTensor *desc) override;
    bool submit() override;

private:
    struct Buffer {
        void *data;
        NvU64 size;
    };

    void *device(int instance);
    bool bind(int output, int index, void *hMem);
    NvDlaError place(NvU32 position);

    void *m_core;
    void *m_session = nullptr;
    int m_instance = 0;
    std::map<int, void *> m_devices;
    std::map<void *, Buffer> m_buffers; /* what allocateSystemMemory gave */
};

/* False, and the map as it was, when there is no memory: no exception leaves this library. */
template <typename Map>
bool remember(Map &map, const typename Map::key_type &key, const typename Map::mapped_type &value)
{
    try {
        map[key] = value;
        return true;
    } catch (const std::bad_alloc &) {
        sim_nvdla_explain("out of memory");
        return false;
    }
}

Runtime::~Runtime()
{
    unload();
    for (const auto &buffer : m_buffers) {
        NvDlaFreeMem(nullptr, device(m_instance), buffer.first, buffer.second.data,
                     static_cast<NvU32>(buffer.second.size));
    }
    for (const auto &opened : m_devices) {
        NvDlaClose(opened.second);
    }
    NvDlaDestroy(m_session);
    sim__nvdla_destroy(m_core);
}

/* The device handle of a core, opened on first use; null when there is no such core. */
void *Runtime::device(int instance)
{
    const auto known = m_devices.find(instance);
    if (known != m_devices.end()) {
        return known->second;
    }
    void *opened = nullptr;
    if (m_devices.empty() && NvDlaInitialize(&m_session) != NvDlaSuccess) {
        return nullptr;
    }
    if (NvDlaOpen(m_session, static_cast<NvU32>(instance), &opened) != NvDlaSuccess) {
        return nullptr;
    }
    if (!remember(m_devices, instance, opened)) {
        NvDlaClose(opened);
        return nullptr;
    }
    return opened;
}

NvU16 Runtime::getMaxDevices()
{
    NvU16 count = 0;
    sim__nvdla_cores(&count);
    return count;
}

NvU16 Runtime::getNumDevices()
{
    NvU16 working = 0;
    for (int instance = 0; instance < getMaxDevices(); ++instance) {
        working = static_cast<NvU16>(working + (device(instance) != nullptr));
    }
    return working;
}

bool Runtime::initEMU(void)
{
    return sim__nvdla_emulator(m_core, 1) == NvDlaSuccess;
}

void Runtime::stopEMU(void)
{
    sim__nvdla_emulator(m_core, 0);
}

/* Allocates one memory of the loadable and has it filled. */
NvDlaError Runtime::place(NvU32 position)
{
    NvU64 size = 0;
    int sram = 0;
    NvDlaError error = sim__nvdla_memory(m_core, position, &size, &sram);
    if (error != NvDlaSuccess) {
        return error;
    }
    void *handle = nullptr;
    void *data = nullptr;
    error = NvDlaAllocMem(m_session, device(m_instance), &handle, &data, static_cast<NvU32>(size),
                          sram ? NvDlaHeap_SRAM : NvDlaHeap_System);
    if (error != NvDlaSuccess) {
        return error;
    }
    return sim__nvdla_place(m_core, position, handle, data);
}

bool Runtime::load(NvU8 *buf, int instance)
{
    unload();
    m_instance = instance < 0 ? 0 : instance;
    NvU32 memories = 0;
    if (device(m_instance) == nullptr ||
        sim__nvdla_load(m_core, buf, &memories) != NvDlaSuccess) {
        return false;
    }
    for (NvU32 position = 0; position < memories; ++position) {
        if (place(position) != NvDlaSuccess) {
            unload();
            return false;
        }
    }
    return sim__nvdla_loaded(m_core) == NvDlaSuccess;
}

void Runtime::unload(void)
{
    if (sim__nvdla_unload(m_core) != NvDlaSuccess) {
        return;
    }
    for (;;) {
        void *handle = nullptr;
        void *data = nullptr;
        NvU64 size = 0;
        if (sim__nvdla_freed(m_core, &handle, &data, &size) != NvDlaSuccess || handle == nullptr) {
            return;
        }
        NvDlaFreeMem(nullptr, device(m_instance), handle, data, static_cast<NvU32>(size));
    }
}

NvDlaError Runtime::allocateSystemMemory(void **h_mem, NvU64 size, void **pData)
{
    if (h_mem == nullptr || pData == nullptr) {
        sim_nvdla_explain("IRuntime::allocateSystemMemory: a result pointer is NULL");
        return NvDlaError_BadParameter;
    }
    *h_mem = nullptr;
    *pData = nullptr;
    if (size > UINT32_MAX) {
        sim_nvdla_explain("IRuntime::allocateSystemMemory: size does not fit 32 bits");
        return NvDlaError_InsufficientMemory;
    }
    void *opened = device(m_instance);
    if (opened == nullptr) {
        return NvDlaError_ResourceError;
    }
    const NvDlaError error = NvDlaAllocMem(nullptr, opened, h_mem, pData,
                                           static_cast<NvU32>(size), NvDlaHeap_System);
    if (error != NvDlaSuccess) {
        *h_mem = nullptr;
        *pData = nullptr;
        return error;
    }
    if (!remember(m_buffers, *h_mem, Buffer{*pData, size})) {
        NvDlaFreeMem(nullptr, opened, *h_mem, *pData, static_cast<NvU32>(size));
        *h_mem = nullptr;
        *pData = nullptr;
        return NvDlaError_InsufficientMemory;
    }
    return NvDlaSuccess;
}

void Runtime::freeSystemMemory(void *phMem, NvU64 size)
{
    const auto known = m_buffers.find(phMem);
    if (known == m_buffers.end()) {
        sim_nvdla_explain("IRuntime::freeSystemMemory: not memory of allocateSystemMemory");
        return;
    }
    (void)size; /* what was allocated is freed, whatever the caller believes */
    NvDlaFreeMem(nullptr, device(m_instance), phMem, known->second.data,
                 static_cast<NvU32>(known->second.size));
    m_buffers.erase(known);
}

/* Memory that came directly from NvDlaAllocMem is bound without a pointer: the driver knows it. */
bool Runtime::bind(int output, int index, void *hMem)
{
    const auto known = m_buffers.find(hMem);
    const Buffer buffer = known == m_buffers.end() ? Buffer{nullptr, 0} : known->second;
    return sim__nvdla_bind(m_core, output, index, hMem, buffer.data, buffer.size) == NvDlaSuccess;
}

bool Runtime::bindInputTensor(int index, void *hMem)
{
    return bind(INPUT, index, hMem);
}

bool Runtime::bindOutputTensor(int index, void *hMem)
{
    return bind(OUTPUT, index, hMem);
}

/* Succeeds and says nothing, as in the public runtime. */
NvDlaError Runtime::getNetworkDataType(uint8_t *) const
{
    return NvDlaSuccess;
}

NvDlaError Runtime::getNumInputTensors(int *count)
{
    return sim__nvdla_count(m_core, INPUT, count);
}

NvDlaError Runtime::getInputTensorDesc(int id, NvDlaTensor *desc)
{
    return sim__nvdla_tensor(m_core, INPUT, id, desc);
}

NvDlaError Runtime::setInputTensorDesc(int id, const NvDlaTensor *desc)
{
    return sim__nvdla_set_tensor(m_core, INPUT, id, desc);
}

NvDlaError Runtime::getNumOutputTensors(int *count)
{
    return sim__nvdla_count(m_core, OUTPUT, count);
}

NvDlaError Runtime::getOutputTensorDesc(int id, NvDlaTensor *desc)
{
    return sim__nvdla_tensor(m_core, OUTPUT, id, desc);
}

NvDlaError Runtime::setOutputTensorDesc(int id, const NvDlaTensor *desc)
{
    return sim__nvdla_set_tensor(m_core, OUTPUT, id, desc);
}

bool Runtime::submit()
{
    void *opened = device(m_instance);
    if (opened == nullptr || sim__nvdla_begin(m_core) != NvDlaSuccess) {
        return false;
    }
    const std::unique_ptr<NvDlaTask> task(new (std::nothrow) NvDlaTask); /* 96 KiB: not the stack */
    for (int more = 1; task;) {
        if (sim__nvdla_next(m_core, task.get(), &more) != NvDlaSuccess) {
            return false;
        }
        if (!more) {
            return true;
        }
        if (NvDlaSubmit(nullptr, opened, task.get(), 1) != NvDlaSuccess) {
            return false;
        }
    }
    return false;
}

/* The live objects: destroyRuntime takes any pointer without harm. */
std::mutex s_lock;
using Known = std::map<IRuntime *, Runtime *>;
Known &runtimes()
{
    alignas(Known) static char place[sizeof(Known)]; /* never destroyed: exit handlers may ask */
    static Known *const all = new (place) Known();
    return *all;
}

} // namespace

EXPORT IRuntime *createRuntime()
{
    void *core = nullptr;
    if (sim__nvdla_create(&core) != NvDlaSuccess) {
        return nullptr;
    }
    Runtime *runtime = new (std::nothrow) Runtime(core);
    if (runtime == nullptr) {
        sim__nvdla_destroy(core);
        return nullptr;
    }
    const std::lock_guard<std::mutex> guard(s_lock);
    if (!remember(runtimes(), runtime, runtime)) {
        delete runtime;
        return nullptr;
    }
    return runtime;
}

EXPORT void destroyRuntime(IRuntime *runtime)
{
    Runtime *own = nullptr;
    {
        const std::lock_guard<std::mutex> guard(s_lock);
        const auto known = runtimes().find(runtime);
        if (known == runtimes().end()) {
            if (runtime != nullptr) {
                sim_nvdla_explain("destroyRuntime: not a runtime, or destroyed before");
            }
            return;
        }
        own = known->second;
        runtimes().erase(known);
    }
    delete own;
}

} // namespace nvdla
