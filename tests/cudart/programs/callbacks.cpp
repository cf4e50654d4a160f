// Host functions and callbacks run in stream order, on threads that may not call CUDA; an
// exception inside stays inside.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

static std::string trail;
static std::thread::id caller;
static std::atomic<int> nested{-1};

static void append(void *text) { trail += static_cast<const char *>(text); }

static void careful(void *) {
    try {
        throw std::runtime_error("inside");
    } catch (const std::exception &error) {
        trail += error.what();
    }
}

static void greedy(void *) {
    void *memory = nullptr;
    nested = cudaMalloc(&memory, 16);
}

static void CUDART_CB finished(cudaStream_t stream, cudaError_t status, void *user) {
    trail += std::this_thread::get_id() == caller ? " same thread" : " other thread";
    trail += status == cudaSuccess ? " success" : " failure";
    *static_cast<cudaStream_t *>(user) = stream;
}

#define CHECK(call)                                                                                \
    do {                                                                                           \
        cudaError_t result_ = (call);                                                              \
        if (result_ != cudaSuccess) {                                                              \
            std::printf("%s: %s\n", #call, cudaGetErrorName(result_));                             \
            return 1;                                                                              \
        }                                                                                          \
    } while (0)

int main() {
    caller = std::this_thread::get_id();
    cudaStream_t stream, seen = nullptr;
    CHECK(cudaStreamCreate(&stream));
    char *device;
    CHECK(cudaMalloc(&device, 4));
    char *pinned;
    CHECK(cudaMallocHost(&pinned, 4));
    CHECK(cudaLaunchHostFunc(stream, append, const_cast<char *>("a ")));
    CHECK(cudaMemsetAsync(device, 'b', 1, stream));
    CHECK(cudaMemcpyAsync(pinned, device, 1, cudaMemcpyDeviceToHost, stream));
    CHECK(cudaLaunchHostFunc(stream, append, pinned));
    CHECK(cudaLaunchHostFunc(stream, append, const_cast<char *>(" c ")));
    CHECK(cudaLaunchHostFunc(stream, careful, nullptr));
    CHECK(cudaStreamAddCallback(stream, finished, &seen, 0));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("%s %d\n", trail.c_str(), seen == stream);
    CHECK(cudaLaunchHostFunc(stream, greedy, nullptr));
    CHECK(cudaStreamSynchronize(stream));
    std::printf("nested %d\n", nested.load());
    std::printf("null %d flags %d\n", (int)cudaLaunchHostFunc(stream, nullptr, nullptr),
                (int)cudaStreamAddCallback(stream, finished, nullptr, 1));
    // Many at once, on many streams.
    std::vector<cudaStream_t> streams(8);
    std::vector<std::string> trails(8);
    struct Note {
        std::string *trail;
        char letter;
    };
    static Note notes[8][26];
    for (int i = 0; i < 8; ++i) {
        CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
        for (int letter = 0; letter < 26; ++letter) {
            notes[i][letter] = {&trails[i], static_cast<char>('a' + letter)};
            CHECK(cudaLaunchHostFunc(
                streams[i],
                [](void *user) {
                    Note *note = static_cast<Note *>(user);
                    *note->trail += note->letter;
                },
                &notes[i][letter]));
        }
    }
    CHECK(cudaDeviceSynchronize());
    for (const std::string &each : trails) {
        if (each != "abcdefghijklmnopqrstuvwxyz") {
            std::printf("out of order: %s\n", each.c_str());
            return 1;
        }
    }
    std::puts("done");
    return 0;
}
