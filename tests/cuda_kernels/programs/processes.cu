// Memory and events of two processes: the parent starts itself again, and they talk through two pipes.
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr int N = 256;

__global__ void fill(int *data)
{
    for (int i = 0; i < 2000000 && threadIdx.x == 0; i++)
        *static_cast<volatile int *>(data) = i; // it takes its time
    data[threadIdx.x] = threadIdx.x;
}
__global__ void twice(int *data) { data[threadIdx.x] *= 2; }

static void check(int line, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("%d, line %d: %s\n", getpid(), line, cudaGetErrorName(error));
    exit(3);
}
#define CHECK(call) check(__LINE__, call)

struct Given {
    cudaIpcMemHandle_t memory;
    cudaIpcEventHandle_t filled;
    cudaMemPoolPtrExportData pooled;
    int pool;
};

template <class T> static void send(int pipe, const T &what)
{
    if (write(pipe, &what, sizeof what) != sizeof what)
        exit(4);
}

template <class T> static T receive(int pipe)
{
    T what;
    if (read(pipe, &what, sizeof what) != sizeof what)
        exit(5);
    return what;
}

static void child(int in, int out)
{
    Given given = receive<Given>(in);
    int *data, *again, *pooled;
    cudaEvent_t filled, done;
    cudaMemPool_t pool;
    cudaIpcEventHandle_t answer;
    CHECK(cudaIpcOpenMemHandle((void **)&data, given.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenMemHandle((void **)&again, given.memory, cudaIpcMemLazyEnablePeerAccess));
    CHECK(cudaIpcOpenEventHandle(&filled, given.filled));
    CHECK(cudaMemPoolImportFromShareableHandle(&pool, (void *)(size_t)given.pool, cudaMemHandleTypePosixFileDescriptor, 0));
    CHECK(cudaMemPoolImportPointer((void **)&pooled, pool, &given.pooled));
    CHECK(cudaEventCreateWithFlags(&done, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaStreamWaitEvent(0, filled));
    twice<<<1, N>>>(data);
    twice<<<1, N>>>(pooled);
    CHECK(cudaEventRecord(done));
    CHECK(cudaIpcGetEventHandle(&answer, done));
    send(out, answer);
    receive<char>(in); // the parent has looked
    void *nothing;
    printf("%d %s ", data == again, cudaGetErrorName(cudaMallocFromPoolAsync(&nothing, 8, pool, 0)));
    CHECK(cudaIpcCloseMemHandle(data));
    CHECK(cudaIpcCloseMemHandle(data));
    printf("%s ", cudaGetErrorName(cudaIpcCloseMemHandle(data)));
    CHECK(cudaFree(pooled));
    given.memory.reserved[0] ^= 1;
    printf("%s\n", cudaGetErrorName(cudaIpcOpenMemHandle((void **)&data, given.memory, 1)));
    fflush(stdout);
}

int main(int count, char **words)
{
    if (count > 1) {
        child(atoi(words[1]), atoi(words[2]));
        return 0;
    }
    int *data, *pooled, result[N], there[2], back[2];
    Given given;
    cudaEvent_t filled, done, timed;
    cudaMemPool_t pool;
    cudaMemPoolProps props = {};
    props.allocType = cudaMemAllocationTypePinned;
    props.handleTypes = cudaMemHandleTypePosixFileDescriptor;
    props.location.type = cudaMemLocationTypeDevice;
    CHECK(cudaMemPoolCreate(&pool, &props));
    CHECK(cudaMallocFromPoolAsync(&pooled, N * sizeof(int), pool, 0));
    CHECK(cudaMalloc(&data, N * sizeof(int)));
    CHECK(cudaMemset(data, 1, N * sizeof(int))); // it is there before it is shared
    CHECK(cudaEventCreateWithFlags(&filled, cudaEventInterprocess | cudaEventDisableTiming));
    CHECK(cudaIpcGetMemHandle(&given.memory, data));
    CHECK(cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost));
    printf("%x\n", result[N - 1]);
    CHECK(cudaIpcGetEventHandle(&given.filled, filled));
    CHECK(cudaMemPoolExportPointer(&given.pooled, pooled));
    CHECK(cudaMemPoolExportToShareableHandle(&given.pool, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    fflush(stdout);
    if (pipe(there) || pipe(back))
        return 6;
    pid_t other = fork();
    if (other == 0) {
        char in[16], out[16];
        fcntl(given.pool, F_SETFD, 0); // it goes with exec
        snprintf(in, sizeof in, "%d", there[0]);
        snprintf(out, sizeof out, "%d", back[1]);
        execl(words[0], words[0], in, out, nullptr);
        _exit(7);
    }
    close(back[1]); // else nobody notices when the child fails
    fill<<<1, N>>>(pooled);
    fill<<<1, N>>>(data);
    CHECK(cudaEventRecord(filled));
    send(there[1], given);
    cudaIpcEventHandle_t answer = receive<cudaIpcEventHandle_t>(back[0]);
    CHECK(cudaIpcOpenEventHandle(&done, answer));
    CHECK(cudaEventSynchronize(done));
    CHECK(cudaMemcpy(result, data, sizeof result, cudaMemcpyDeviceToHost));
    printf("%d %d ", result[1], result[N - 1]);
    CHECK(cudaMemcpy(result, pooled, sizeof result, cudaMemcpyDeviceToHost));
    printf("%d %d\n", result[1], result[N - 1]);
    fflush(stdout);
    send(there[1], 'x');
    int status = 0;
    waitpid(other, &status, 0);
    CHECK(cudaEventCreate(&timed));
    printf("%d %s ", status, cudaGetErrorName(cudaIpcGetEventHandle(&answer, timed)));
    printf("%s ", cudaGetErrorName(cudaIpcGetMemHandle(&given.memory, data + 1)));
    printf("%s\n", cudaGetErrorName(cudaIpcOpenEventHandle(&done, answer))); // its process has ended
    CHECK(cudaFree(data));
    return 0;
}
