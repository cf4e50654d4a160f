/* two_cores LOADABLE INPUT: four threads on two cores; all results must be equal. */
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

#include "nvdla/IRuntime.h"

typedef std::vector<char> Bytes;

static Bytes contents(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
}

static void infer(Bytes image, const Bytes &input, int core, Bytes *result)
{
    nvdla::IRuntime *runtime = nvdla::createRuntime();
    nvdla::IRuntime::NvDlaTensor in, out;
    void *handles[2], *data[2];
    if (runtime->load(reinterpret_cast<NvU8 *>(image.data()), core) &&
        !runtime->getInputTensorDesc(0, &in) && !runtime->getOutputTensorDesc(0, &out) &&
        !runtime->allocateSystemMemory(&handles[0], in.bufferSize, &data[0]) &&
        !runtime->allocateSystemMemory(&handles[1], out.bufferSize, &data[1]) &&
        runtime->bindInputTensor(0, handles[0]) && runtime->bindOutputTensor(0, handles[1])) {
        std::memcpy(data[0], input.data(), input.size());
        for (int run = 0; run < 10; ++run) {
            std::memset(data[1], run, out.bufferSize);
            if (!runtime->submit()) {
                return;
            }
        }
        result->assign(static_cast<char *>(data[1]), static_cast<char *>(data[1]) + out.dims.c);
    }
    nvdla::destroyRuntime(runtime);
}

int main(int, char **argv)
{
    const Bytes image = contents(argv[1]), input = contents(argv[2]);
    Bytes results[4];
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back(infer, image, input, i % 2, &results[i]);
    }
    for (std::thread &thread : threads) {
        thread.join();
    }
    for (const Bytes &result : results) {
        if (result.empty() || result != results[0]) {
            return 1;
        }
    }
    return 0;
}
