/*
 * strides LOADABLE INPUT OUTPUT
 *
 * The first input is a feature tensor. Its lines are moved apart (twice the stride), the runtime is
 * told, and the network runs; then the old strides are set again and it runs once more. Both
 * results are written, one after the other.
 */
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#include "nvdla/IRuntime.h"

using nvdla::IRuntime;

static std::vector<char> contents(const char *path)
{
    std::ifstream file(path, std::ios::binary);
    return std::vector<char>(std::istreambuf_iterator<char>(file),
                             std::istreambuf_iterator<char>());
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        return 9;
    }
    std::vector<char> image = contents(argv[1]), input = contents(argv[2]);
    IRuntime *runtime = nvdla::createRuntime();
    IRuntime::NvDlaTensor in, out;
    void *handles[2], *data[2];
    if (!runtime->load(reinterpret_cast<NvU8 *>(image.data()), 0) ||
        runtime->getInputTensorDesc(0, &in) || runtime->getOutputTensorDesc(0, &out) ||
        runtime->allocateSystemMemory(&handles[0], 2 * in.bufferSize, &data[0]) ||
        runtime->allocateSystemMemory(&handles[1], out.bufferSize, &data[1]) ||
        !runtime->bindInputTensor(0, handles[0]) || !runtime->bindOutputTensor(0, handles[1])) {
        return 1;
    }
    std::ofstream result(argv[3], std::ios::binary);
    const IRuntime::NvDlaTensor plain = in;
    for (unsigned factor = 2; factor >= 1; factor--) {
        in.stride[1] = factor * plain.stride[1];
        in.stride[2] = factor * plain.stride[2];
        if (runtime->setInputTensorDesc(0, &in)) {
            return 2;
        }
        IRuntime::NvDlaTensor now;
        runtime->getInputTensorDesc(0, &now);
        if (now.stride[1] != in.stride[1]) {
            return 3;
        }
        std::memset(data[0], 0x55, 2 * in.bufferSize);
        std::memset(data[1], 0, out.bufferSize);
        for (std::size_t at = 0; at < input.size(); at += plain.stride[1]) {
            std::memcpy(static_cast<char *>(data[0]) + at * factor, &input[at], plain.stride[1]);
        }
        if (!runtime->submit()) {
            return 4;
        }
        result.write(static_cast<char *>(data[1]), static_cast<std::streamsize>(out.bufferSize));
    }
    nvdla::destroyRuntime(runtime);
    return 0;
}
