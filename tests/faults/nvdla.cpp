// A digit through nvdla::IRuntime; SWEEP_LOADABLE names the network.
#include "sweep.h"

#include <cstdlib>
#include <cstring>
#include <vector>

#include "nvdla/IRuntime.h"

using nvdla::IRuntime;

static std::vector<unsigned char> image;
static signed char expected[32];

static int run(IRuntime *runtime, signed char *result)
{
    struct {
        void *handle, *data;
        NvU64 size;
    } buffers[2] = {{nullptr, nullptr, 0}, {nullptr, nullptr, 0}};
    for (int i = 0; i < 2; i++) {
        IRuntime::NvDlaTensor tensor;
        TRY(i == 0 ? runtime->getInputTensorDesc(0, &tensor)
                   : runtime->getOutputTensorDesc(0, &tensor));
        if (GOOD) {
            buffers[i].size = tensor.bufferSize;
            TRY(runtime->allocateSystemMemory(&buffers[i].handle, tensor.bufferSize,
                                              &buffers[i].data));
        }
        if (GOOD)
            TRY(!(i == 0 ? runtime->bindInputTensor(0, buffers[0].handle)
                         : runtime->bindOutputTensor(0, buffers[1].handle)));
    }
    if (GOOD) {
        auto *picture = static_cast<signed char *>(buffers[0].data);
        memset(picture, 0, buffers[0].size);
        for (int i = 0; i < 64; i++)
            picture[i * 32] = static_cast<signed char>(i * 2);
        TRY(!runtime->submit());
    }
    if (GOOD)
        memcpy(result, buffers[1].data, 32);
    for (auto &buffer : buffers)
        if (buffer.handle != nullptr)
            runtime->freeSystemMemory(buffer.handle, buffer.size);
    return first_status;
}

static int scenario(void)
{
    if (image.empty()) {
        FILE *file = fopen(getenv("SWEEP_LOADABLE"), "rb");
        image.resize(1 << 17);
        image.resize(file ? fread(image.data(), 1, image.size(), file) : 0);
        if (file)
            fclose(file);
    }
    signed char result[32] = {0};
    IRuntime *runtime = nvdla::createRuntime();
    TRY(runtime == nullptr);
    if (GOOD) {
        TRY(!runtime->load(image.data(), 0));
        if (GOOD)
            TRY(!runtime->initEMU());
        if (GOOD) {
            run(runtime, result);
            runtime->stopEMU();
        }
        runtime->unload();
        nvdla::destroyRuntime(runtime);
    }
    if (!GOOD)
        return first_status;
    if (expected[31] == 0) {
        memcpy(expected, result, 31);
        expected[31] = 1;
    }
    return memcmp(expected, result, 10) != 0 ? WRONG : 0;
}
