// How CUDA programs take part in NvSciBuf and NvSciSync objects.
#include <cuda.h>
#include <cuda_runtime.h>
#include <nvscibuf.h>
#include <nvscisync.h>

int main() {
    CUdevice device;
    CUuuid uuid;
    CUresult driver = cuInit(0);
    driver = cuDeviceGet(&device, 0);
    driver = cuDeviceGetUuid(&uuid, device);
    NvSciBufAttrKeyValuePair pair = {NvSciBufGeneralAttrKey_GpuId, &uuid, sizeof(uuid)};
    NvSciBufAttrList buffer_list = NULL;
    NvSciError error = NvSciBufAttrListSetAttrs(buffer_list, &pair, 1);

    NvSciBufObj buffer = NULL;
    cudaExternalMemory_t memory;
    cudaExternalMemoryHandleDesc memory_desc;
    memset(&memory_desc, 0, sizeof(memory_desc));
    memory_desc.type = cudaExternalMemoryHandleTypeNvSciBuf;
    memory_desc.handle.nvSciBufObject = buffer;
    memory_desc.size = 4096;
    cudaError_t result = cudaImportExternalMemory(&memory, &memory_desc);
    cudaExternalMemoryBufferDesc mapping = {0, 4096, 0};
    void *address = NULL;
    result = cudaExternalMemoryGetMappedBuffer(&address, memory, &mapping);

    NvSciSyncAttrList sync_list = NULL;
    result = cudaDeviceGetNvSciSyncAttributes(sync_list, 0, cudaNvSciSyncAttrSignal);
    NvSciSyncObj sync = NULL;
    cudaExternalSemaphore_t semaphore;
    cudaExternalSemaphoreHandleDesc semaphore_desc;
    memset(&semaphore_desc, 0, sizeof(semaphore_desc));
    semaphore_desc.type = cudaExternalSemaphoreHandleTypeNvSciSync;
    semaphore_desc.handle.nvSciSyncObj = (void *)sync;
    result = cudaImportExternalSemaphore(&semaphore, &semaphore_desc);
    NvSciSyncFence fence = NvSciSyncFenceInitializer;
    cudaExternalSemaphoreSignalParams signal;
    memset(&signal, 0, sizeof(signal));
    signal.params.nvSciSync.fence = &fence;
    signal.flags = 0;
    result = cudaSignalExternalSemaphoresAsync(&semaphore, &signal, 1);
    cudaExternalSemaphoreWaitParams wait;
    memset(&wait, 0, sizeof(wait));
    wait.params.nvSciSync.fence = (void *)&fence;
    result = cudaWaitExternalSemaphoresAsync(&semaphore, &wait, 1, cudaStreamPerThread);
    result = cudaDestroyExternalSemaphore(semaphore);
    result = cudaFree(address);
    result = cudaDestroyExternalMemory(memory);
    return (int)driver + (int)error + (int)result;
}
