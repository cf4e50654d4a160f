// Classifies handwritten digits on a DLA in hybrid mode: memory comes from CUDA, and tasks take
// their turn on a CUDA stream between the copies. The network computes in fp16 and ends in a
// softmax.
//
//     digits_hybrid LOADABLE PICTURE.pgm...
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "cudla.h"
#include "cudlaExternalEtbl.hpp"
#include "sample.h"

namespace {

#define CHECK(call)                                                                     \
    do {                                                                                \
        const int status_ = static_cast<int>(call);                                     \
        if (status_ != 0) {                                                             \
            std::fprintf(stderr, "%s:%d: %s answered %#x\n", __FILE__, __LINE__, #call, \
                         static_cast<unsigned>(status_));                               \
            std::exit(1);                                                               \
        }                                                                               \
    } while (0)

// CUDA memory that is registered with a DLA for as long as it lives.
class Buffer {
public:
    Buffer(cudlaDevHandle device, std::size_t size, std::uint32_t flags) : device_(device)
    {
        CHECK(cudaMalloc(&memory_, size));
        CHECK(cudlaMemRegister(device, static_cast<std::uint64_t *>(memory_), size, &dla_, flags));
    }
    ~Buffer()
    {
        CHECK(cudlaMemUnregister(device_, dla_));
        CHECK(cudaFree(memory_));
    }
    Buffer(const Buffer &) = delete;
    Buffer &operator=(const Buffer &) = delete;

    void *cuda() const { return memory_; }
    std::uint64_t *dla() const { return dla_; }

private:
    cudlaDevHandle device_;
    void *memory_ = nullptr;
    std::uint64_t *dla_ = nullptr;
};

cudlaModuleTensorDescriptor describe(cudlaModule module, cudlaModuleAttributeType type)
{
    cudlaModuleTensorDescriptor tensor{};
    cudlaModuleAttribute attribute{};
    attribute.inputTensorDesc = &tensor;
    CHECK(cudlaModuleGetAttributes(module, type, &attribute));
    return tensor;
}

void put(std::vector<unsigned char> &bytes, std::size_t offset, __half value)
{
    std::memcpy(&bytes[offset], &value, sizeof value);
}

float get(const std::vector<unsigned char> &bytes, std::size_t offset)
{
    __half value;
    std::memcpy(&value, &bytes[offset], sizeof value);
    return __half2float(value);
}

}  // namespace

int main(int argc, char **argv)
{
    if (argc < 3) {
        std::fprintf(stderr, "usage: %s LOADABLE PICTURE.pgm...\n", argv[0]);
        return 2;
    }
    std::size_t size = 0;
    const std::unique_ptr<unsigned char, decltype(&std::free)> loadable(read_file(argv[1], &size),
                                                                        &std::free);
    if (!loadable) {
        return 1;
    }

    cudlaDevHandle device = nullptr;
    cudlaModule module = nullptr;
    cudaStream_t stream = nullptr;
    CHECK(cudaFree(nullptr));
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, loadable.get(), size, &module, CUDLA_MODULE_DEFAULT));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    const auto in = describe(module, CUDLA_INPUT_TENSOR_DESCRIPTORS);
    const auto out = describe(module, CUDLA_OUTPUT_TENSOR_DESCRIPTORS);
    const auto stats = describe(module, CUDLA_OUTPUT_TASK_STATISTICS_DESCRIPTORS);
    if (in.dataType != CUDLA_DATA_TYPE_HALF) {
        std::fprintf(stderr, "%s: this sample feeds fp16 networks\n", argv[1]);
        return 1;
    }

    const int pictures = argc - 2;
    std::vector<std::vector<unsigned char>> results(pictures, std::vector<unsigned char>(out.size));
    std::vector<std::vector<unsigned char>> tensors(pictures, std::vector<unsigned char>(in.size));
    std::vector<unsigned char> statistics(stats.size);
    {
        const Buffer input(device, in.size, 0);
        const Buffer output(device, out.size, 0);
        const Buffer times(device, stats.size, CUDLA_TASK_STATISTICS);
        std::vector<float> grey(in.h * in.w);
        cudaEvent_t begin, end;
        CHECK(cudaEventCreate(&begin));
        CHECK(cudaEventCreate(&end));
        CHECK(cudaEventRecord(begin, stream));
        for (int i = 0; i < pictures; i++) {
            if (read_pgm(argv[i + 2], static_cast<int>(in.w), static_cast<int>(in.h),
                         grey.data()) != 0) {
                return 1;
            }
            for (std::uint64_t h = 0; h < in.h; h++) {
                for (std::uint64_t w = 0; w < in.w; w++) {
                    put(tensors[i], feature_offset(&in, 0, h, w), __float2half(grey[h * in.w + w]));
                }
            }
            const std::uint64_t *inputs[] = {input.dla()};
            std::uint64_t *outputs[] = {output.dla(), times.dla()};
            cudlaTask task{};
            task.moduleHandle = module;
            task.inputTensor = inputs;
            task.numInputTensors = 1;
            task.outputTensor = outputs;
            task.numOutputTensors = 2;
            // Nothing waits here: copy, task and copy follow each other on the stream.
            CHECK(cudaMemcpyAsync(input.cuda(), tensors[i].data(), in.size, cudaMemcpyHostToDevice,
                                  stream));
            CHECK(cudlaSubmitTask(device, &task, 1, stream, 0));
            CHECK(cudaMemcpyAsync(results[i].data(), output.cuda(), out.size,
                                  cudaMemcpyDeviceToHost, stream));
        }
        CHECK(cudaMemcpyAsync(statistics.data(), times.cuda(), stats.size, cudaMemcpyDeviceToHost,
                              stream));
        CHECK(cudaEventRecord(end, stream));
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudlaGetLastError(device));
        float milliseconds = 0;
        CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
        std::printf("%d pictures in %.1f ms\n", pictures, milliseconds);
        CHECK(cudaEventDestroy(begin));
        CHECK(cudaEventDestroy(end));
    }

    int right = 0, labelled = 0;
    for (int i = 0; i < pictures; i++) {
        int digit = 0;
        float best = 0;
        for (std::uint64_t c = 0; c < out.c; c++) {
            const float probability = get(results[i], feature_offset(&out, c, 0, 0));
            if (probability > best) {
                best = probability;
                digit = static_cast<int>(c);
            }
        }
        print_digit(argv[i + 2], digit, best, "probability");
        labelled += label_of(argv[i + 2]) >= 0;
        right += label_of(argv[i + 2]) == digit;
    }

    const cudlaExternalEtbl *table = nullptr;
    cudlaTranslateCsvAttribute csv{};
    CHECK(cudlaGetExternalExportTable(&table, 0));
    CHECK(table->etiTranslateStats(device, statistics.data(), 1000, 0, CUDLA_GET_CSV_LENGTH, &csv));
    std::vector<char> text(csv.csvStreamLength);
    csv.csvStreamStats = text.data();
    CHECK(table->etiTranslateStats(device, statistics.data(), 1000, 0, CUDLA_GET_CSV_STATS, &csv));
    print_layers(text.data());

    CHECK(cudlaModuleUnload(module, 0));
    CHECK(cudlaDestroyDevice(device));
    CHECK(cudaStreamDestroy(stream));
    return summary(right, labelled);
}
