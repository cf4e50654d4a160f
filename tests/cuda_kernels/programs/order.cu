// One number, changed by whatever a stream can hold; the end depends on the order. argv: seed.
#include <cstdio>
#include <cstdlib>
#include <thread>

__global__ void step(unsigned *number, unsigned by) { *number = *number * 3 + by; }

struct Change {
    unsigned *number, by;
};

static void on_host(void *given)
{
    Change *change = static_cast<Change *>(given);
    *change->number = *change->number * 3 + change->by;
    delete change;
}

int main(int, char **argv)
{
    srand(atoi(argv[1]));
    unsigned *number, *other, expected = 1;
    cudaMallocManaged(&number, 4);
    cudaMallocManaged(&other, 4);
    *number = 1;
    cudaStream_t streams[4] = {nullptr, cudaStreamPerThread};
    cudaStreamCreate(&streams[2]);
    cudaStreamCreateWithFlags(&streams[3], cudaStreamNonBlocking);
    cudaEvent_t before;
    cudaEventCreate(&before);
    int now = 0;
    for (int i = 0; i < 3000; i++) {
        if (rand() % 8 == 0) { // goes on in another stream
            int next = rand() % 4;
            bool by_rule = (now == 0 || next == 0) && now != 3 && next != 3;
            if (!by_rule || rand() % 2) {
                if (rand() % 2) {
                    cudaEventRecord(before, streams[now]);
                    cudaStreamWaitEvent(streams[next], before, 0);
                } else {
                    cudaStreamSynchronize(streams[now]);
                }
            }
            now = next;
        }
        unsigned by = rand() % 1000;
        int kind = rand() % 40;
        if (kind == 0) {
            cudaLaunchHostFunc(streams[now], on_host, new Change{number, by});
        } else if (kind == 1) {
            cudaMemcpyAsync(other, number, 4, cudaMemcpyDefault, streams[now]);
            cudaMemsetAsync(number, 0, 4, streams[now]);
            cudaMemcpyAsync(number, other, 4, cudaMemcpyDefault, streams[now]);
            continue;
        } else if (kind == 2 && now != 1) { // another thread, while this one waits
            std::thread([&] { step<<<1, 1, 0, streams[now]>>>(number, by); }).join();
        } else if (kind == 3 && now >= 2) {
            cudaGraph_t graph;
            cudaGraphExec_t ready;
            cudaStreamBeginCapture(streams[now], cudaStreamCaptureModeGlobal);
            step<<<1, 1, 0, streams[now]>>>(number, by);
            step<<<1, 1, 0, streams[now]>>>(number, by + 1);
            cudaStreamEndCapture(streams[now], &graph);
            cudaGraphInstantiate(&ready, graph, 0);
            cudaGraphLaunch(ready, streams[now]);
            cudaGraphLaunch(ready, streams[now]);
            cudaGraphExecDestroy(ready);
            cudaGraphDestroy(graph);
            for (int twice = 0; twice < 2; twice++)
                expected = (expected * 3 + by) * 3 + by + 1;
            continue;
        } else {
            step<<<1, 1, 0, streams[now]>>>(number, by);
        }
        expected = expected * 3 + by;
    }
    cudaStreamSynchronize(streams[now]);
    cudaError_t error = cudaDeviceSynchronize();
    printf("%s %s\n", cudaGetErrorName(error), *number == expected ? "in order" : "out of order");
    return *number != expected;
}
