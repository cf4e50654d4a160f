/* Pixels go into an image of two planes (luminance, and chrominance of half the size) and back. */
#include <nvscibuf.h>

#include <string.h>

#include "check.h"

enum { WIDTH = 48, HEIGHT = 32 };

static NvSciBufObj image(NvSciBufModule module)
{
    NvSciBufType type = NvSciBufType_Image;
    NvSciBufAttrValAccessPerm perm = NvSciBufAccessPerm_ReadWrite;
    NvSciBufAttrValImageLayoutType layout = NvSciBufImage_PitchLinearType;
    NvSciBufAttrValColorFmt formats[] = {NvSciColor_Y8, NvSciColor_U8V8};
    uint32_t planes = 2, widths[] = {WIDTH, WIDTH / 2}, heights[] = {HEIGHT, HEIGHT / 2};
    bool cpu = true;
    NvSciBufAttrKeyValuePair pairs[] = {
        {NvSciBufGeneralAttrKey_Types, &type, sizeof type},
        {NvSciBufGeneralAttrKey_NeedCpuAccess, &cpu, sizeof cpu},
        {NvSciBufGeneralAttrKey_RequiredPerm, &perm, sizeof perm},
        {NvSciBufImageAttrKey_Layout, &layout, sizeof layout},
        {NvSciBufImageAttrKey_PlaneCount, &planes, sizeof planes},
        {NvSciBufImageAttrKey_PlaneColorFormat, formats, sizeof formats},
        {NvSciBufImageAttrKey_PlaneWidth, widths, sizeof widths},
        {NvSciBufImageAttrKey_PlaneHeight, heights, sizeof heights},
    };
    NvSciBufAttrList list, conflict;
    NvSciBufObj made;
    CHECK(NvSciBufAttrListCreate(module, &list) == NvSciError_Success);
    CHECK(NvSciBufAttrListSetAttrs(list, pairs, 8) == NvSciError_Success);
    CHECK(NvSciBufAttrListReconcileAndObjAlloc(&list, 1, &made, &conflict) == NvSciError_Success);
    NvSciBufAttrListFree(list);
    return made;
}

int main(void)
{
    static uint8_t luma[HEIGHT * WIDTH], chroma[HEIGHT / 2 * WIDTH];
    static uint8_t luma_back[HEIGHT * WIDTH], chroma_back[HEIGHT / 2 * WIDTH];
    for (int i = 0; i < HEIGHT * WIDTH; i++) {
        luma[i] = (uint8_t)(i * 7 + i / WIDTH);
        chroma[i / 2] = (uint8_t)(i * 5);
    }
    NvSciBufModule module;
    CHECK(NvSciBufModuleOpen(&module) == NvSciError_Success);
    NvSciBufObj buffer = image(module);

    /* A pair of chrominance has two bytes, so the lines of both planes have equal lengths. */
    const void *from[] = {luma, chroma};
    void *to[] = {luma_back, chroma_back};
    uint32_t sizes[] = {sizeof luma, sizeof chroma}, pitches[] = {WIDTH, WIDTH};
    NvSciError error = NvSciBufObjPutPixels(buffer, NULL, from, sizes, pitches);
    CHECK(error == NvSciError_Success);
    error = NvSciBufObjGetPixels(buffer, NULL, to, sizes, pitches);
    CHECK(error == NvSciError_Success);
    CHECK(memcmp(luma, luma_back, sizeof luma) == 0);
    CHECK(memcmp(chroma, chroma_back, sizeof chroma) == 0);

    /* A rectangle is given in pixels of the first plane. */
    NvSciBufRect part = {.x0 = 8, .y0 = 4, .x1 = 24, .y1 = 12};
    uint8_t small_luma[8 * 16], small_chroma[4 * 16];
    void *small[] = {small_luma, small_chroma};
    uint32_t small_sizes[] = {sizeof small_luma, sizeof small_chroma}, small_pitches[] = {16, 16};
    error = NvSciBufObjGetPixels(buffer, &part, small, small_sizes, small_pitches);
    CHECK(error == NvSciError_Success);
    for (int y = 0; y < 8; y++) {
        CHECK(memcmp(small_luma + y * 16, luma + (4 + y) * WIDTH + 8, 16) == 0);
        CHECK(memcmp(small_chroma + y / 2 * 16, chroma + (2 + y / 2) * WIDTH + 8, 16) == 0);
    }

    /* Writing one changes those pixels, and no others. */
    memset(small_luma, 255, sizeof small_luma);
    memset(small_chroma, 1, sizeof small_chroma);
    const void *patch[] = {small_luma, small_chroma};
    error = NvSciBufObjPutPixels(buffer, &part, patch, small_sizes, small_pitches);
    CHECK(error == NvSciError_Success);
    CHECK(NvSciBufObjGetPixels(buffer, NULL, to, sizes, pitches) == NvSciError_Success);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            int inside = x >= 8 && x < 24 && y >= 4 && y < 12;
            CHECK(luma_back[y * WIDTH + x] == (inside ? 255 : luma[y * WIDTH + x]));
            int at = y / 2 * WIDTH + x;
            CHECK(chroma_back[at] == (inside ? 1 : chroma[at]));
        }
    }

    NvSciBufRect outside = {.x0 = 0, .y0 = 0, .x1 = WIDTH + 1, .y1 = HEIGHT};
    error = NvSciBufObjGetPixels(buffer, &outside, to, sizes, pitches);
    CHECK(error == NvSciError_BadParameter);
    NvSciBufObjFree(buffer);
    NvSciBufModuleClose(module);
    puts("ok");
    return 0;
}
