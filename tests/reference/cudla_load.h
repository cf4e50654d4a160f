/* Loads a loadable: its one output pixel is the largest of 2 by 2 input pixels. */
#ifndef REFERENCE_CUDLA_LOAD_H
#define REFERENCE_CUDLA_LOAD_H

#include <cudla.h>

#include "check.h"

static cudlaModule load(cudlaDevHandle device, const char *path)
{
    static uint8_t image[1 << 16];
    cudlaModule module;
    FILE *file = fopen(path, "rb");
    CHECK(file);
    size_t size = fread(image, 1, sizeof image, file);
    fclose(file);
    CHECK(cudlaModuleLoadFromMemory(device, image, size, &module, 0) == cudlaSuccess);
    return module;
}

#endif
