// Graphs by hand. Prints what the nodes computed, then what is refused.
#include <cstdio>
#include <cstdlib>

__global__ void append(unsigned *number, unsigned digit) { *number = *number * 10 + digit; }

static void check(int line, cudaError_t error)
{
    if (error == cudaSuccess)
        return;
    printf("line %d: %s\n", line, cudaGetErrorName(error));
    exit(3);
}
#define CHECK(call) check(__LINE__, call)

static void host_digit(void *number) { *static_cast<unsigned *>(number) = *static_cast<unsigned *>(number) * 10 + 7; }

static cudaGraphNode_t kernel(cudaGraph_t graph, unsigned *number, unsigned digit, cudaGraphNode_t *after, size_t count)
{
    cudaGraphNode_t node;
    void *arguments[] = {&number, &digit};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(append);
    params.gridDim = dim3(1);
    params.blockDim = dim3(1);
    params.kernelParams = arguments;
    CHECK(cudaGraphAddKernelNode(&node, graph, after, count, &params));
    return node; // the arguments are gone now
}

int main()
{
    unsigned *number, *copy;
    CHECK(cudaMallocManaged(&number, 4));
    CHECK(cudaMallocManaged(&copy, 4));
    cudaGraph_t graph, clone, child;
    cudaGraphExec_t ready;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    CHECK(cudaGraphCreate(&graph, 0));
    // 3 is added first and waits for the others: memset to 0, 1, 2, host 7, the child's 4 and 5
    cudaGraphNode_t three = kernel(graph, number, 3, nullptr, 0);
    cudaGraphNode_t set, host, nested, empty, moved;
    cudaMemsetParams zero = {number, 0, 0, 4, 1, 1};
    CHECK(cudaGraphAddMemsetNode(&set, graph, nullptr, 0, &zero));
    cudaGraphNode_t one = kernel(graph, number, 1, &set, 1);
    cudaGraphNode_t two = kernel(graph, number, 2, &one, 1);
    cudaHostNodeParams called = {host_digit, number};
    CHECK(cudaGraphAddHostNode(&host, graph, &two, 1, &called));
    CHECK(cudaGraphCreate(&child, 0));
    cudaGraphNode_t four = kernel(child, number, 4, nullptr, 0);
    kernel(child, number, 5, &four, 1);
    CHECK(cudaGraphAddChildGraphNode(&nested, graph, &host, 1, child));
    cudaGraphNode_t both[] = {host, nested};
    CHECK(cudaGraphAddEmptyNode(&empty, graph, both, 2));
    CHECK(cudaGraphAddDependencies(graph, &empty, &three, 1));
    CHECK(cudaGraphAddMemcpyNode1D(&moved, graph, &three, 1, copy, number, 4, cudaMemcpyDefault));
    CHECK(cudaGraphInstantiate(&ready, graph, 0));
    CHECK(cudaGraphClone(&clone, graph));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%u %u\n", *number, *copy);
    unsigned nine = 9;
    void *arguments[] = {&number, &nine};
    cudaKernelNodeParams params = {};
    params.func = reinterpret_cast<void *>(append);
    params.gridDim = params.blockDim = dim3(1);
    params.kernelParams = arguments;
    CHECK(cudaGraphExecKernelNodeSetParams(ready, two, &params));
    CHECK(cudaGraphLaunch(ready, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%u\n", *copy);
    cudaGraphExec_t other;
    CHECK(cudaGraphInstantiate(&other, clone, 0));
    CHECK(cudaGraphLaunch(other, stream));
    CHECK(cudaStreamSynchronize(stream));
    printf("%u\n", *copy);
    size_t count = 0;
    cudaGraphNodeType kind;
    CHECK(cudaGraphGetNodes(graph, nullptr, &count));
    CHECK(cudaGraphNodeGetType(set, &kind));
    printf("%zu %d\n", count, kind);
    unsigned short *row;
    CHECK(cudaMallocManaged(&row, 64));
    cudaMemsetParams pattern = {row, 16, 0x1ABCD, 2, 3, 4};
    cudaGraph_t fills;
    cudaGraphNode_t fill;
    CHECK(cudaGraphCreate(&fills, 0));
    CHECK(cudaGraphAddMemsetNode(&fill, fills, nullptr, 0, &pattern));
    cudaGraphExec_t filling;
    CHECK(cudaGraphInstantiate(&filling, fills, 0));
    CHECK(cudaGraphLaunch(filling, stream));
    CHECK(cudaStreamSynchronize(stream));
    for (int i = 0; i < 32; i++)
        printf("%x ", row[i]);
    printf("\n%s\n", cudaGetErrorName(cudaGraphAddEmptyNode(&fill, fills, &set, 1)));
    CHECK(cudaGraphAddDependencies(graph, &three, &set, 1));
    printf("%s\n", cudaGetErrorName(cudaGraphInstantiate(&other, graph, 0)));
    params.blockDim = dim3(4096);
    printf("%s\n", cudaGetErrorName(cudaGraphAddKernelNode(&fill, fills, nullptr, 0, &params)));
    cudaGraph_t captured;
    cudaGraphNode_t nodes[8];
    count = 8;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    CHECK(cudaMemsetAsync(number, 0, 4, stream));
    append<<<1, 1, 0, stream>>>(number, 1);
    CHECK(cudaLaunchHostFunc(stream, host_digit, number));
    CHECK(cudaMemcpyAsync(copy, number, 4, cudaMemcpyDefault, stream));
    CHECK(cudaStreamEndCapture(stream, &captured));
    CHECK(cudaGraphGetNodes(captured, nodes, &count));
    for (size_t i = 0; i < count; i++) {
        CHECK(cudaGraphNodeGetType(nodes[i], &kind));
        printf("%d ", kind);
    }
    printf("\n");
    cudaGetLastError(); // of the node that was refused
    append<<<1, 1, 48 << 10>>>(number, 1);
    printf("%s ", cudaGetErrorName(cudaGetLastError()));
    append<<<1, 1, (163 << 10) + 1>>>(number, 1); // an Orin has 163 KiB
    printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    CHECK(cudaGraphDestroy(graph));
    printf("%s\n", cudaGetErrorName(cudaGraphNodeGetType(set, &kind)));
    return 0;
}
