/* A pool that another process imports by a descriptor, and memory of it. */
#include <cuda.h>

#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

enum { COUNT = 64 };

static void begin(void)
{
    CUcontext context;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
}

static void send_with(int to, int descriptor, void *bytes, size_t size)
{
    struct iovec part = {bytes, size};
    char control[CMSG_SPACE(sizeof descriptor)] = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof descriptor);
    memcpy(CMSG_DATA(header), &descriptor, sizeof descriptor);
    CHECK(sendmsg(to, &message, 0) == (ssize_t)size);
}

static int receive_with(int from, void *bytes, size_t size)
{
    int descriptor;
    struct iovec part = {bytes, size};
    char control[CMSG_SPACE(sizeof descriptor)];
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control,
                             .msg_controllen = sizeof control};
    CHECK(recvmsg(from, &message, 0) == (ssize_t)size);
    memcpy(&descriptor, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof descriptor);
    return descriptor;
}

static int importing(int from)
{
    CUmemPoolPtrExportData data;
    CUmemoryPool pool;
    CUdeviceptr memory;
    int values[COUNT];
    int descriptor = receive_with(from, &data, sizeof data);
    begin();
    CALL(cuMemPoolImportFromShareableHandle(&pool, (void *)(size_t)descriptor,
                                            CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CALL(cuMemPoolImportPointer(&memory, pool, &data));
    CALL(cuMemcpyDtoH(values, memory, sizeof values));
    CHECK(values[0] == 7 && values[COUNT - 1] == 7);
    CALL(cuMemsetD32(memory, 8, COUNT));
    CALL(cuMemFree(memory));
    return 0;
}

int main(void)
{
    CUmemPoolProps props;
    CUmemoryPool pool;
    CUmemPoolPtrExportData data;
    CUstream stream;
    CUdeviceptr memory;
    int sockets[2], descriptor, status, values[COUNT];
    CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) == 0);
    pid_t child = fork();
    if (child == 0)
        return importing(sockets[1]);
    begin();
    CALL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    CALL(cuMemPoolCreate(&pool, &props));
    CALL(cuMemPoolExportToShareableHandle(&descriptor, pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    CALL(cuMemAllocFromPoolAsync(&memory, sizeof values, pool, stream));
    CALL(cuMemsetD32Async(memory, 7, COUNT, stream));
    CALL(cuStreamSynchronize(stream));
    CALL(cuMemPoolExportPointer(&data, memory));
    send_with(sockets[0], descriptor, &data, sizeof data);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CALL(cuMemcpyDtoH(values, memory, sizeof values));
    CHECK(values[0] == 8 && values[COUNT - 1] == 8);
    CALL(cuMemFree(memory));
    CALL(cuMemPoolDestroy(pool));
    CALL(cuStreamDestroy(stream));
    printf("ok\n");
    return 0;
}
