/* What both digit samples need that has nothing to do with cuDLA: files, pictures, the report. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cudla.h"

/* A whole file in memory from malloc; NULL (and a message) when it cannot be read. */
static inline unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        perror(path);
        return NULL;
    }
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    unsigned char *data = (unsigned char *)malloc(*size + 1);
    if (data != NULL && fread(data, 1, *size, file) != *size) {
        free(data);
        data = NULL;
        fprintf(stderr, "%s: cannot be read\n", path);
    }
    fclose(file);
    return data;
}

/* Reads a binary PGM of width x height into grey values from 0 to 1. Returns 0 on success. */
static inline int read_pgm(const char *path, int width, int height, float *grey)
{
    size_t size = 0;
    unsigned char *data = read_file(path, &size);
    int w = 0, h = 0, most = 0, head = 0;
    if (data == NULL) {
        return -1;
    }
    data[size] = 0;
    int fields = sscanf((const char *)data, "P5 %d %d %d%n", &w, &h, &most, &head);
    if (fields != 3 || w != width || h != height || most < 1 || most > 255 ||
        size < (size_t)head + 1 + (size_t)(w * h)) {
        fprintf(stderr, "%s: not a PGM picture of %d x %d\n", path, width, height);
        free(data);
        return -1;
    }
    for (int i = 0; i < w * h; i++) {
        grey[i] = (float)data[head + 1 + i] / (float)most;
    }
    free(data);
    return 0;
}

/*
 * Where element (c, h, w) of a tensor in the DLA's feature format lies: an atom of 32 bytes holds
 * 32 channels (int8) or 16 (fp16) of one pixel; stride[1] is a line, stride[2] a surface of atoms.
 * Small configurations have smaller atoms, 8 bytes on nv_small: a packed line tells.
 */
static inline size_t feature_offset(const cudlaModuleTensorDescriptor *tensor, uint64_t c,
                                    uint64_t h, uint64_t w)
{
    uint64_t element = tensor->dataType == CUDLA_DATA_TYPE_INT8 ? 1 : 2;
    uint64_t atom = tensor->stride[1] / tensor->w;
    uint64_t per_atom = atom / element;
    return (size_t)(c / per_atom * tensor->stride[2] + h * tensor->stride[1] + w * atom +
                    c % per_atom * element);
}

/* The digit that a picture's name begins with ("images/7_012.pgm"), -1 when it does not. */
static inline int label_of(const char *path)
{
    const char *name = strrchr(path, '/');
    name = name != NULL ? name + 1 : path;
    return name[0] >= '0' && name[0] <= '9' && name[1] == '_' ? name[0] - '0' : -1;
}

static inline void print_digit(const char *path, int digit, double score, const char *unit)
{
    int label = label_of(path);
    printf("%s: %d (%s %.2f)%s\n", path, digit, unit, score,
           label < 0 || label == digit ? "" : "   <- wrong");
}

/* The layers of the last task, from the CSV text that the statistics translate to. */
static inline void print_layers(char *csv)
{
    printf("\n%-28s %-24s %12s\n", "unit", "shape (c x h x w)", "milliseconds");
    for (char *row = strchr(csv, '\n'); row != NULL && row[1] == '\''; row = strchr(row, '\n')) {
        char unit[64], shape[64];
        double begin, end;
        row++;
        if (sscanf(row, "'%63[^[][%63[^]]]',%lf,%lf", unit, shape, &begin, &end) == 4) {
            printf("%-28s %-24s %12.3f\n", unit, shape, end - begin);
        }
    }
}

/* The last lines, and the exit status: at least 95 % of the labelled pictures must be right. */
static inline int summary(int right, int labelled)
{
    printf("\n%d of %d digits are right\n", right, labelled);
    return right * 100 >= labelled * 95 ? 0 : 1;
}

#endif
