/* Every function with NULL, stale, foreign and out-of-range arguments; argument: a loadable. */
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "cudla_sim.h"
#include "nvdla/IRuntime.h"
#include "nvdla/nvdla_inf.h"
#include "nvdla/nvdla_interface.h"

static int line_of_failure;

#define CHECK(condition) \
    do { \
        if (!(condition)) { \
            char why[600]; \
            simExplain(why, sizeof why); \
            std::printf("line %d: %s\n  last explanation: %s\n", __LINE__, #condition, why); \
            line_of_failure = __LINE__; \
        } \
    } while (0)

#define EXPLAINED(part) \
    do { \
        char why[600]; \
        simExplain(why, sizeof why); \
        if (std::strstr(why, part) == nullptr) { \
            std::printf("line %d: %s is not in: %s\n", __LINE__, part, why); \
            line_of_failure = __LINE__; \
        } \
    } while (0)

static const NvDlaError BAD = NvDlaError_BadParameter;

static void user_mode()
{
    int local = 0;
    void *session = nullptr, *device = nullptr, *memory = nullptr, *data = nullptr, *foreign = &local;
    static NvDlaTask task;
    CHECK(NvDlaInitialize(nullptr) == BAD);
    EXPLAINED("NvDlaInitialize: session_handle is NULL");
    CHECK(NvDlaInitialize(&session) == NvDlaSuccess);
    CHECK(NvDlaOpen(session, 0, nullptr) == BAD);
    CHECK(NvDlaOpen(session, 2, &device) == BAD);
    EXPLAINED("core 2");
    CHECK(NvDlaOpen(foreign, 0, &device) == BAD);
    CHECK(NvDlaOpen(nullptr, 1, &device) == NvDlaSuccess);
    NvDlaClose(device);
    CHECK(NvDlaAllocMem(nullptr, device, &memory, &data, 64, NvDlaHeap_System) == BAD);
    EXPLAINED("stale");
    CHECK(NvDlaOpen(session, 0, &device) == NvDlaSuccess);
    CHECK(NvDlaAllocMem(session, nullptr, &memory, &data, 64, NvDlaHeap_System) == BAD);
    CHECK(NvDlaAllocMem(session, session, &memory, &data, 64, NvDlaHeap_System) == BAD);
    CHECK(NvDlaAllocMem(session, device, nullptr, &data, 64, NvDlaHeap_System) == BAD);
    CHECK(NvDlaAllocMem(session, device, &memory, nullptr, 64, NvDlaHeap_System) == BAD);
    CHECK(NvDlaAllocMem(session, device, &memory, &data, 0, NvDlaHeap_System) == BAD);
    CHECK(NvDlaAllocMem(session, device, &memory, &data, 64, (NvDlaHeap)7) == BAD);
    CHECK(NvDlaAllocMem(session, device, &memory, &data, 64, NvDlaHeap_SRAM) == NvDlaSuccess);
    CHECK(NvDlaSubmit(nullptr, device, nullptr, 1) == BAD);
    CHECK(NvDlaSubmit(nullptr, device, nullptr, 0) == NvDlaSuccess);
    CHECK(NvDlaSubmit(nullptr, nullptr, &task, 1) == BAD);
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == BAD); /* no addresses */
    task.num_addresses = 7000;
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == BAD);
    EXPLAINED("num_addresses is 7000");
    task.num_addresses = 1;
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == BAD);
    EXPLAINED("address_list[0].handle is NULL");
    task.address_list[0].handle = memory;
    task.address_list[0].offset = 65;
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == BAD);
    task.address_list[0].offset = 0;
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == NvDlaSuccess); /* no operations */
    static_cast<unsigned char *>(data)[30] = 1; /* num_operations, and no lists */
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == NvDlaError_IoctlFailed);
    CHECK(NvDlaFreeMem(session, device, nullptr, data, 64) == BAD);
    CHECK(NvDlaFreeMem(session, device, memory, nullptr, 64) == BAD);
    CHECK(NvDlaFreeMem(session, device, memory, data, 63) == BAD);
    CHECK(NvDlaFreeMem(session, device, memory, data, 64) == NvDlaSuccess);
    CHECK(NvDlaFreeMem(session, device, memory, data, 64) == BAD);
    EXPLAINED("freed by NvDlaFreeMem");
    CHECK(NvDlaSubmit(nullptr, device, &task, 1) == BAD);
    NvDlaClose(device);
    NvDlaClose(device);
    NvDlaClose(foreign);
    NvDlaClose(nullptr);
    NvDlaDestroy(session);
    NvDlaDestroy(session);
    NvDlaDestroy(nullptr);
}

static void kernel_mode()
{
    int local = 0;
    void *engine = nullptr;
    uint32_t complete = 5;
    uint64_t address = 0;
    char bytes[16] = "";
    simNvdlaAddress list[1] = {{bytes, sizeof bytes, 4}};
    simNvdlaTask task = {1, list}, empty = {0, list};
    CHECK(dla_register_driver(nullptr, nullptr) == -3);
    CHECK(dla_register_driver(&engine, &local) == -3);
    EXPLAINED("driver_context");
    CHECK(dla_register_driver(&engine, nullptr) == 0);
    CHECK(dla_execute_task(nullptr, &task, nullptr) == -3);
    CHECK(dla_execute_task(&local, &task, nullptr) == -3);
    CHECK(dla_execute_task(engine, nullptr, nullptr) == -3);
    CHECK(dla_execute_task(engine, (void *)0x10, nullptr) == -3);
    CHECK(dla_execute_task(engine, &empty, nullptr) == -3);
    CHECK(dla_execute_task(engine, &task, nullptr) == -3); /* too short for a descriptor */
    CHECK(dla_process_events(engine, &complete) == -2 && complete == 5);
    CHECK(dla_process_events(engine, nullptr) == -3);
    CHECK(dla_process_events(nullptr, &complete) == -3);
    CHECK(dla_isr_handler(engine) == 0);
    CHECK(dla_isr_handler(nullptr) == -3);
    dla_clear_task(engine);
    dla_clear_task(nullptr);

    CHECK(dla_get_dma_address(nullptr, &task, 0, &address, DESTINATION_PROCESSOR) == 0);
    CHECK(address == 0);
    CHECK(dla_get_dma_address(nullptr, &task, 0, &address, DESTINATION_DMA) == 0);
    CHECK(address == (uintptr_t)bytes + 4);
    CHECK(dla_get_dma_address(nullptr, &task, -1, &address, DESTINATION_DMA) == -22);
    CHECK(dla_get_dma_address(nullptr, &task, 1, &address, DESTINATION_DMA) == -22);
    CHECK(dla_get_dma_address(nullptr, &task, 0, &address, 2) == -22);
    CHECK(dla_get_dma_address(nullptr, &task, 0, nullptr, DESTINATION_DMA) == -22);
    CHECK(dla_get_dma_address(nullptr, nullptr, 0, &address, DESTINATION_DMA) == -22);
    CHECK(dla_data_write(nullptr, &task, (void *)"abc", 0, 3, 13) == 0);
    CHECK(dla_data_write(nullptr, &task, (void *)"abc", 0, 3, 14) != 0);
    EXPLAINED("bytes 14..17 of buffer 0, which has 16");
    CHECK(dla_data_write(nullptr, &task, nullptr, 0, 3, 0) != 0);
    CHECK(dla_data_read(nullptr, &task, 1, &address, 3, 0) != 0);
    CHECK(dla_data_read(nullptr, &task, 0, &address, 8, UINT64_MAX) != 0);
    CHECK(dla_data_read(nullptr, nullptr, 0, &address, 3, 0) != 0);
    CHECK(dla_data_read(nullptr, &task, 0, bytes, 3, 13) == 0 && std::memcmp(bytes, "abc", 3) == 0);
    CHECK(dla_memset(nullptr, 1, 1) == nullptr && dla_memcpy(nullptr, bytes, 1) == nullptr);

    dla_reg_write(&local, 0x100c, 1); /* a context that means nothing */
    CHECK(dla_reg_read(&local, 0) == 0);
    EXPLAINED("driver_context");
    dla_reg_write(nullptr, 0xfffffffc, 1); /* no register there */
    CHECK(dla_reg_read(nullptr, 0xfffffffd) == 0);
    dla_debug(nullptr);
    CHECK(dla_get_time_us() > 0);

    CHECK(simNvdlaContext(2) == nullptr && simNvdlaContext(1) != nullptr);
    CHECK(simNvdlaStep(9, nullptr, nullptr) == simErrorInvalidParam);
    CHECK(simNvdlaWrite(9, 0, 0) == simErrorInvalidParam && simNvdlaRead(9, 0) == 0);
    CHECK(simNvdlaReset(9) == simErrorInvalidParam);
    CHECK(simSetInterruptHandler(9, nullptr, nullptr) == simErrorInvalidParam);
}

static void runtime(std::vector<unsigned char> image)
{
    using nvdla::IRuntime;
    IRuntime *r = nvdla::createRuntime();
    IRuntime::NvDlaTensor t, changed;
    void *h = nullptr, *small = nullptr, *out = nullptr, *data = nullptr;
    int count = 9, local = 0;
    uint8_t type;
    CHECK(!r->submit());
    EXPLAINED("load() comes first");
    CHECK(r->getNumInputTensors(&count) == NvDlaSuccess && count == 0);
    CHECK(r->getNumInputTensors(nullptr) == BAD && r->getNumOutputTensors(nullptr) == BAD);
    CHECK(r->getInputTensorDesc(0, &t) == BAD);
    CHECK(!r->bindInputTensor(0, &local));
    CHECK(!r->load(nullptr, 0));
    CHECK(!r->load(image.data(), 2));
    std::vector<unsigned char> parts(4096);
    std::memcpy(parts.data(), "PK\3\4", 4);
    CHECK(!r->load(parts.data(), 0));
    EXPLAINED("network in parts");
    std::vector<unsigned char> bad = image;
    for (std::size_t n : {0u, 4u, 8u, 64u, 1000u}) { /* truncated: what follows is zero */
        bad.assign(image.begin(), image.begin() + n);
        bad.resize(image.size());
        CHECK(!r->load(bad.data(), 0));
    }
    for (std::size_t at = 0; at < 4096 && at < image.size(); at += 37) { /* flipped bytes */
        bad = image;
        bad[at] ^= 0xFF;
        if (r->load(bad.data(), 0)) {
            r->unload();
        }
    }
    CHECK(r->load(image.data(), -1));
    CHECK(r->load(image.data(), 0)); /* replaces the first */
    CHECK(r->getNumInputTensors(&count) == NvDlaSuccess && count == 1);
    CHECK(r->getInputTensorDesc(0, &t) == NvDlaSuccess && t.bufferSize == 2048);
    CHECK(r->getInputTensorDesc(1, &t) == BAD && r->getInputTensorDesc(-1, &t) == BAD);
    CHECK(r->getInputTensorDesc(0, nullptr) == BAD && r->setInputTensorDesc(0, nullptr) == BAD);
    CHECK(r->setInputTensorDesc(1, &t) == BAD);
    CHECK(r->getNetworkDataType(&type) == NvDlaSuccess);
    changed = t;
    changed.name[0] = '?';
    CHECK(r->setInputTensorDesc(0, &changed) == NvDlaError_NotSupported);
    changed = t;
    changed.dims.w++;
    CHECK(r->setInputTensorDesc(0, &changed) == NvDlaError_NotSupported);
    changed = t;
    changed.pixelFormat = 0;
    CHECK(r->setInputTensorDesc(0, &changed) == NvDlaError_NotSupported);
    changed = t;
    changed.dataType = 2;
    CHECK(r->setInputTensorDesc(0, &changed) == NvDlaError_NotImplemented);
    CHECK(r->setInputTensorDesc(0, &t) == NvDlaSuccess);
    CHECK(r->allocateSystemMemory(nullptr, 1, &data) == BAD);
    CHECK(r->allocateSystemMemory(&h, 1, nullptr) == BAD);
    CHECK(r->allocateSystemMemory(&h, 0, &data) != NvDlaSuccess && h == nullptr);
    CHECK(r->allocateSystemMemory(&h, 1ull << 40, &data) == NvDlaError_InsufficientMemory);
    CHECK(r->allocateSystemMemory(&h, 2048, &data) == NvDlaSuccess);
    CHECK(r->allocateSystemMemory(&small, 16, &data) == NvDlaSuccess);
    CHECK(r->allocateSystemMemory(&out, 32, &data) == NvDlaSuccess);
    CHECK(!r->bindInputTensor(-1, h) && r->bindInputTensor(5, h));
    CHECK(!r->submit());
    EXPLAINED("is not bound");
    CHECK(r->bindInputTensor(0, h) && r->bindOutputTensor(0, out) && r->submit());
    CHECK(r->bindInputTensor(0, &local) && !r->submit());
    EXPLAINED("was never issued");
    CHECK(r->bindInputTensor(0, small) && !r->submit()); /* too small */
    EXPLAINED("not inside one mapped range");
    CHECK(r->bindInputTensor(0, h) && r->submit()); /* and it goes on */
    r->freeSystemMemory(h, 2048);
    CHECK(!r->submit());
    EXPLAINED("freed by NvDlaFreeMem");
    r->freeSystemMemory(h, 2048);
    r->freeSystemMemory(&local, 1);
    r->unload();
    r->unload();
    CHECK(!r->submit());
    CHECK(r->load(image.data(), 1));
    CHECK(simReset() == simSuccess);
    CHECK(!r->submit() && !r->load(image.data(), 0));
    nvdla::destroyRuntime(r);
    nvdla::destroyRuntime(r);
    nvdla::destroyRuntime(nullptr);
}

int main(int, char **argv)
{
    std::ifstream file(argv[1], std::ios::binary);
    std::vector<unsigned char> image((std::istreambuf_iterator<char>(file)),
                                     std::istreambuf_iterator<char>());
    user_mode();
    kernel_mode();
    runtime(image);
    return line_of_failure != 0;
}
