/* What else texture references are set to: mipmaps, the color of the border. */
#include <cuda.h>

#include <string.h>

#include "check.h"

#define CALL(call) CHECK((call) == CUDA_SUCCESS)

int main(void)
{
    CUcontext context;
    CUtexref texture;
    CUmipmappedArray mipmap, found;
    CUDA_ARRAY3D_DESCRIPTOR desc;
    CUfilter_mode mode;
    float value, other, border[] = {1, 2, 3, 4}, told[4];
    int most;
    CALL(cuInit(0));
    CALL(cuDevicePrimaryCtxRetain(&context, 0));
    CALL(cuCtxSetCurrent(context));
    memset(&desc, 0, sizeof desc);
    desc.Width = desc.Height = 16;
    desc.Format = CU_AD_FORMAT_FLOAT;
    desc.NumChannels = 1;
    CALL(cuMipmappedArrayCreate(&mipmap, &desc, 3));
    CALL(cuTexRefCreate(&texture));
    CALL(cuTexRefSetFlags(texture, CU_TRSF_NORMALIZED_COORDINATES));
    CALL(cuTexRefSetMipmappedArray(texture, mipmap, CU_TRSA_OVERRIDE_FORMAT));
    CALL(cuTexRefGetMipmappedArray(&found, texture));
    CHECK(found == mipmap);
    CALL(cuTexRefSetMipmapFilterMode(texture, CU_TR_FILTER_MODE_LINEAR));
    CALL(cuTexRefGetMipmapFilterMode(&mode, texture));
    CHECK(mode == CU_TR_FILTER_MODE_LINEAR);
    CALL(cuTexRefSetMipmapLevelBias(texture, 0.5f));
    CALL(cuTexRefGetMipmapLevelBias(&value, texture));
    CHECK(value == 0.5f);
    CALL(cuTexRefSetMipmapLevelClamp(texture, 1.0f, 2.0f));
    CALL(cuTexRefGetMipmapLevelClamp(&value, &other, texture));
    CHECK(value == 1.0f && other == 2.0f);
    CALL(cuTexRefSetMaxAnisotropy(texture, 4));
    CALL(cuTexRefGetMaxAnisotropy(&most, texture));
    CHECK(most == 4);
    CALL(cuTexRefSetBorderColor(texture, border));
    CALL(cuTexRefGetBorderColor(told, texture));
    CHECK(told[0] == 1 && told[3] == 4);
    CALL(cuTexRefDestroy(texture));
    CALL(cuMipmappedArrayDestroy(mipmap));
    printf("ok\n");
    return 0;
}
