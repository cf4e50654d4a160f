/*
 * digits_runtime LOADABLE PICTURE...
 *
 * Classifies pictures of digits with nvdla::IRuntime, the C++ interface of the open NVDLA driver
 * stack. It compiles unchanged against the public stack. The pictures are PGM files of 8 x 8; a
 * file name that begins with a digit and "_" says what is right.
 */
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "nvdla/IRuntime.h"

using nvdla::IRuntime;

namespace
{

std::vector<unsigned char> read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return std::vector<unsigned char>(std::istreambuf_iterator<char>(file),
                                      std::istreambuf_iterator<char>());
}

/* A tensor of the network and the memory that is bound to it. */
struct Tensor {
    IRuntime::NvDlaTensor desc;
    void *handle = nullptr;
    std::int8_t *data = nullptr;

    /* Feature format: atoms of 32 channels of one pixel; stride 1 is a line, stride 2 a surface.
     * Small configurations have smaller atoms, 8 channels on nv_small: a packed line tells. */
    std::int8_t &at(unsigned c, unsigned h, unsigned w)
    {
        const unsigned atom = desc.stride[1] / unsigned(desc.dims.w);
        return data[c / atom * desc.stride[2] + h * desc.stride[1] + w * atom + c % atom];
    }
};

bool allocate(IRuntime *runtime, Tensor &tensor)
{
    void *data = nullptr;
    if (runtime->allocateSystemMemory(&tensor.handle, tensor.desc.bufferSize, &data)) {
        return false;
    }
    tensor.data = static_cast<std::int8_t *>(data);
    return tensor.desc.dataType == TENSOR_DATA_TYPE_INT8;
}

/* Binary PGM of the input's size; grey 0..maximum becomes 0..127. */
bool fill(Tensor &input, const std::string &path)
{
    const std::vector<unsigned char> file = read_file(path);
    const std::string head(file.begin(), file.end());
    int width = 0, height = 0, most = 0, skip = 0;
    if (std::sscanf(head.c_str(), "P5 %d %d %d%n", &width, &height, &most, &skip) != 3 ||
        width != input.desc.dims.w || height != input.desc.dims.h || most < 1 ||
        file.size() < static_cast<std::size_t>(skip + 1 + width * height)) {
        std::fprintf(stderr, "%s: not a PGM picture of %d x %d\n", path.c_str(),
                     input.desc.dims.w, input.desc.dims.h);
        return false;
    }
    for (int i = 0; i < width * height; ++i) {
        input.at(0, unsigned(i / width), unsigned(i % width)) =
            static_cast<std::int8_t>((file[std::size_t(skip + 1 + i)] * 127 + most / 2) / most);
    }
    return true;
}

int strongest(Tensor &output)
{
    int best = 0;
    for (int c = 1; c < output.desc.dims.c; ++c) {
        if (output.at(unsigned(c), 0, 0) > output.at(unsigned(best), 0, 0)) {
            best = c;
        }
    }
    return best;
}

int classify(IRuntime *runtime, int count, char **pictures)
{
    Tensor input, output;
    if (runtime->getInputTensorDesc(0, &input.desc) ||
        runtime->getOutputTensorDesc(0, &output.desc) || !allocate(runtime, input) ||
        !allocate(runtime, output) || !runtime->bindInputTensor(0, input.handle) ||
        !runtime->bindOutputTensor(0, output.handle)) {
        std::fprintf(stderr, "the network's tensors cannot be bound\n");
        return 1;
    }
    int right = 0;
    for (int i = 0; i < count; ++i) {
        const std::string path = pictures[i];
        if (!fill(input, path) || !runtime->submit()) {
            std::fprintf(stderr, "%s: no result\n", path.c_str());
            return 1;
        }
        const std::string name = path.substr(path.rfind('/') + 1);
        const int digit = strongest(output);
        const bool good = name[0] == '0' + digit;
        right += good;
        std::printf("%s: %d (score %d)%s\n", name.c_str(), digit, output.at(unsigned(digit), 0, 0),
                    good ? "" : "  WRONG");
    }
    std::printf("%d of %d right\n", right, count);
    runtime->freeSystemMemory(input.handle, input.desc.bufferSize);
    runtime->freeSystemMemory(output.handle, output.desc.bufferSize);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s LOADABLE PICTURE...\n", argv[0]);
        return 2;
    }
    std::vector<unsigned char> loadable = read_file(argv[1]);
    IRuntime *runtime = nvdla::createRuntime();
    if (runtime == nullptr || loadable.empty() || !runtime->load(loadable.data(), 0)) {
        std::fprintf(stderr, "%s: cannot be loaded\n", argv[1]);
        return 1;
    }
    const int status = classify(runtime, argc - 2, argv + 2);
    runtime->unload();
    nvdla::destroyRuntime(runtime);
    return status;
}
