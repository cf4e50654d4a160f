/* Threads come and go, each with its own default stream: prints how many threads are left. */
#include <cuda_runtime_api.h>
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static void *work(void *memory)
{
    int wrong = cudaMemsetAsync(memory, 7, 4096, cudaStreamPerThread) != cudaSuccess;
    wrong += cudaStreamSynchronize(cudaStreamPerThread) != cudaSuccess;
    return (void *)(long)wrong;
}

static int threads(void)
{
    int count = 0;
    DIR *folder = opendir("/proc/self/task");
    for (struct dirent *entry; folder != NULL && (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (folder != NULL)
        closedir(folder);
    return count;
}

int main(void)
{
    void *memory;
    long wrong = cudaMalloc(&memory, 4096) != cudaSuccess;
    for (int i = 0; i < 300; i++) {
        pthread_t thread;
        void *result = NULL;
        wrong += pthread_create(&thread, NULL, work, memory) != 0;
        pthread_join(thread, &result);
        wrong += (long)result;
    }
    wrong += cudaDeviceSynchronize() != cudaSuccess;
    printf("wrong %ld, many threads %d\n", wrong, threads() > 12);
    return 0;
}
