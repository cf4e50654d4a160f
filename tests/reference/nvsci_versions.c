/* A program asks whether the libraries it found are the ones it was written for. */
#include <nvscibuf.h>
#include <nvsciipc.h>
#include <nvscisync.h>

#include "check.h"

int main(void)
{
    NvSciError error;
    bool buf = false, sync = false, ipc = false, other = true;

    error = NvSciBufCheckVersionCompatibility(NvSciBufMajorVersion, NvSciBufMinorVersion, &buf);
    CHECK(error == NvSciError_Success && buf);
    error = NvSciSyncCheckVersionCompatibility(NvSciSyncMajorVersion, NvSciSyncMinorVersion, &sync);
    CHECK(error == NvSciError_Success && sync);
    error = NvSciIpcCheckVersionCompatibility(NvSciIpcMajorVersion, NvSciIpcMinorVersion, &ipc);
    CHECK(error == NvSciError_Success && ipc);

    /* Older minor versions are served as well; newer minor ones and other major ones never. */
    uint32_t major = NvSciBufMajorVersion;
    CHECK(NvSciBufCheckVersionCompatibility(major, NvSciBufMinorVersion + 1, &other) ==
          NvSciError_Success);
    CHECK(!other);
    other = true;
    CHECK(NvSciSyncCheckVersionCompatibility(NvSciSyncMajorVersion, NvSciSyncMinorVersion + 1,
                                             &other) == NvSciError_Success);
    CHECK(!other);
    other = true;
    CHECK(NvSciIpcCheckVersionCompatibility(NvSciIpcMajorVersion, NvSciIpcMinorVersion + 1,
                                            &other) == NvSciError_Success);
    CHECK(!other);
    other = true;
    CHECK(NvSciBufCheckVersionCompatibility(major, 0, &buf) == NvSciError_Success && buf);
    CHECK(NvSciBufCheckVersionCompatibility(major + 1, 0, &other) == NvSciError_Success && !other);
    CHECK(NvSciBufCheckVersionCompatibility(major, 0, NULL) == NvSciError_BadParameter);

    puts("ok");
    return 0;
}
