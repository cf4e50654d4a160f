/*
 * run_loadable LOADABLE RUNS OUTPUT_PREFIX [INPUT_FILE...]
 *
 * Loads, binds every tensor, fills the inputs, submits RUNS times, and writes each output buffer to
 * OUTPUT_PREFIX<n>. Prints one line for each tensor and "ok", or which step failed (status 1).
 */
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nvdla/IRuntime.h"

using nvdla::IRuntime;

static std::vector<char> contents(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>());
}

static int failed(const char *step)
{
    std::printf("failed: %s\n", step);
    return 1;
}

static void show(const char *kind, int id, const IRuntime::NvDlaTensor &t)
{
    std::printf("%s %d %s %llu  %d %d %d %d  %u %u %u %u %u ", kind, id, t.name,
                (unsigned long long)t.bufferSize, t.dims.n, t.dims.c, t.dims.h, t.dims.w,
                t.dataFormat, t.dataType, t.dataCategory, t.pixelFormat, t.pixelMapping);
    for (unsigned stride : t.stride) {
        std::printf(" %u", stride);
    }
    std::printf("\n");
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        return failed("usage");
    }
    std::vector<char> image = contents(argv[1]);
    IRuntime *runtime = nvdla::createRuntime();
    if (runtime == nullptr || !runtime->load(reinterpret_cast<NvU8 *>(image.data()), 0)) {
        return failed("load");
    }
    if (!runtime->initEMU()) {
        return failed("initEMU");
    }
    int inputs = 0, outputs = 0;
    runtime->getNumInputTensors(&inputs);
    runtime->getNumOutputTensors(&outputs);
    struct Buffer {
        void *handle, *data;
        NvU64 size;
    };
    std::vector<Buffer> results, all;
    for (int id = 0; id < inputs + outputs; ++id) {
        const bool in = id < inputs;
        const int number = in ? id : id - inputs;
        IRuntime::NvDlaTensor t;
        NvDlaError error = in ? runtime->getInputTensorDesc(number, &t)
                              : runtime->getOutputTensorDesc(number, &t);
        Buffer b = {nullptr, nullptr, t.bufferSize};
        if (error || runtime->allocateSystemMemory(&b.handle, b.size, &b.data)) {
            return failed("allocateSystemMemory");
        }
        if (!(in ? runtime->bindInputTensor(number, b.handle)
                 : runtime->bindOutputTensor(number, b.handle))) {
            return failed("bind");
        }
        show(in ? "in" : "out", number, t);
        if (in && 4 + number < argc) {
            std::vector<char> bytes = contents(argv[4 + number]);
            std::memcpy(b.data, bytes.data(), bytes.size() < b.size ? bytes.size() : b.size);
        }
        if (!in) {
            results.push_back(b);
        }
        all.push_back(b);
    }
    for (int run = 0; run < std::stoi(argv[2]); ++run) {
        if (!runtime->submit()) {
            return failed(("submit " + std::to_string(run)).c_str());
        }
    }
    for (std::size_t n = 0; n < results.size(); ++n) {
        std::ofstream file(argv[3] + std::to_string(n), std::ios::binary);
        file.write(static_cast<char *>(results[n].data), (std::streamsize)results[n].size);
    }
    runtime->stopEMU();
    for (const Buffer &b : all) {
        runtime->freeSystemMemory(b.handle, b.size);
    }
    runtime->unload();
    nvdla::destroyRuntime(runtime);
    std::printf("ok\n");
    return 0;
}
