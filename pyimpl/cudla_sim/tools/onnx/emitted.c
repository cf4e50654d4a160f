/* Runs the network of @name@ with cuDLA on arrays from files.
 *
 *     PROGRAM LOADABLE INPUT... OUTPUT...
 *
 * A file holds the elements of one array of the ONNX model, in C order, of the model's type: inputs
 * in the order of the table below, then files for the outputs. quantise() and dequantise() are what
 * other programs need.
 */
#include <cuda_runtime_api.h>
#include <cudla.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum type { FLOAT16, FLOAT32, FLOAT64, INT8, UINT8, INT16, UINT16, INT32, INT64 };

/* How an array of the model lies in a buffer of the network.
 *
 * The array has the axes size[]; one step on an axis is step[] elements of the value [n, c, h, w].
 * The buffer holds round(real / scale) + zero where it stores integers, the real number otherwise;
 * an array of integers means (integer - integer_zero) * integer_scale. */
struct port {
    const char *name;
    enum type type, stored;
    size_t elements, bytes;
    int dims;
    size_t size[12], step[12];
    size_t channels, height, width;
    size_t group; /* channels that lie together at a pixel, at place[] */
    size_t batch_bytes, group_bytes, line_bytes, pixel_bytes;
    size_t place[32];
    double scale;
    int zero;
    double integer_scale;
    int integer_zero;
};

/* @ports@ */
enum { INPUTS = sizeof inputs / sizeof *inputs, OUTPUTS = sizeof outputs / sizeof *outputs };

/* The byte of the buffer where element number i of the array lies. */
static size_t place_of(const struct port *port, size_t i)
{
    size_t at = 0;
    for (int axis = port->dims - 1; axis >= 0; axis--) {
        at += i % port->size[axis] * port->step[axis];
        i /= port->size[axis];
    }
    size_t w = at % port->width, row = at / port->width;
    size_t h = row % port->height, plane = row / port->height;
    size_t c = plane % port->channels, n = plane / port->channels;
    return n * port->batch_bytes + c / port->group * port->group_bytes + h * port->line_bytes +
           w * port->pixel_bytes + port->place[c % port->group];
}

static double get(enum type type, const void *array, size_t at)
{
    switch (type) {
    /* @read@ */
    }
    return 0;
}

static void put(enum type type, void *array, size_t at, double value)
{
    switch (type) {
    /* @write@ */
    }
}

static double limited(enum type type, double value)
{
    static const double low[] = {-65504, -INFINITY, -INFINITY, INT8_MIN, 0, INT16_MIN, 0,
                                 INT32_MIN, -9223372036854775807.0};
    static const double high[] = {65504, INFINITY, INFINITY, INT8_MAX, UINT8_MAX, INT16_MAX,
                                  UINT16_MAX, INT32_MAX, 9223372036854774784.0};
    return fmin(fmax(value, low[type]), high[type]);
}

static int whole(enum type type)
{
    return type >= INT8;
}

/* Fill the buffer of an input from an array of the model. */
void quantise(const struct port *port, const void *array, unsigned char *buffer)
{
    for (size_t i = 0; i < port->elements; i++) {
        double real = get(port->type, array, i);
        if (whole(port->type)) {
            real = (float)((float)(real - port->integer_zero) * (float)port->integer_scale);
        }
        double element = whole(port->stored) ? nearbyint(real / port->scale) + port->zero : real;
        put(port->stored, buffer + place_of(port, i), 0, limited(port->stored, element));
    }
}

/* Fill an array of the model from the buffer of an output. */
void dequantise(const struct port *port, const unsigned char *buffer, void *array)
{
    for (size_t i = 0; i < port->elements; i++) {
        double real = get(port->stored, buffer + place_of(port, i), 0);
        if (whole(port->stored)) {
            real = (float)((real - port->zero) * port->scale);
        }
        if (whole(port->type)) {
            real = nearbyintf((float)real / (float)port->integer_scale) + port->integer_zero;
            real = limited(port->type, real);
        }
        put(port->type, array, i, real);
    }
}

#define CHECK(call)                                                                      \
    do {                                                                                 \
        int status_ = (int)(call);                                                       \
        if (status_ != 0) {                                                              \
            fprintf(stderr, "%s:%d: %s answered %d\n", __FILE__, __LINE__, #call, status_); \
            exit(1);                                                                     \
        }                                                                                \
    } while (0)

static size_t bytes_of(enum type type)
{
    static const size_t sizes[] = {2, 4, 8, 1, 1, 2, 2, 4, 8};
    return sizes[type];
}

/* The whole file, of *size bytes unless that is 0; ends the program if it cannot be read. */
static unsigned char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        perror(path);
        exit(1);
    }
    size_t there = (size_t)ftell(file);
    if (*size != 0 && there != *size) {
        fprintf(stderr, "%s has %zu bytes, the array has %zu\n", path, there, *size);
        exit(1);
    }
    rewind(file);
    unsigned char *data = malloc(there + 1);
    if (data == NULL || fread(data, 1, there, file) != there) {
        perror(path);
        exit(1);
    }
    fclose(file);
    *size = there;
    return data;
}

int main(int argc, char **argv)
{
    if (argc != 2 + INPUTS + OUTPUTS) {
        fprintf(stderr, "usage: %s LOADABLE INPUT... OUTPUT...\n", argv[0]);
        for (int i = 0; i < INPUTS + OUTPUTS; i++) {
            const struct port *port = i < INPUTS ? &inputs[i] : &outputs[i - INPUTS];
            fprintf(stderr, "  %s %s: %zu bytes\n", i < INPUTS ? "input" : "output", port->name,
                    port->elements * bytes_of(port->type));
        }
        return 2;
    }
    size_t size = 0;
    unsigned char *loadable = read_file(argv[1], &size);
    cudlaDevHandle device;
    cudlaModule module;
    cudaStream_t stream;
    CHECK(cudaSetDevice(0));
    CHECK(cudlaCreateDevice(0, &device, CUDLA_CUDA_DLA));
    CHECK(cudlaModuleLoadFromMemory(device, loadable, size, &module, 0));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));

    void *memory[INPUTS + OUTPUTS];
    uint64_t *registered[INPUTS + OUTPUTS];
    for (int i = 0; i < INPUTS + OUTPUTS; i++) {
        size_t bytes = i < INPUTS ? inputs[i].bytes : outputs[i - INPUTS].bytes;
        CHECK(cudaMalloc(&memory[i], bytes));
        CHECK(cudlaMemRegister(device, memory[i], bytes, &registered[i], 0));
    }
    for (int i = 0; i < INPUTS; i++) {
        size_t bytes = inputs[i].elements * bytes_of(inputs[i].type);
        unsigned char *array = read_file(argv[2 + i], &bytes);
        unsigned char *buffer = calloc(1, inputs[i].bytes);
        quantise(&inputs[i], array, buffer);
        CHECK(cudaMemcpy(memory[i], buffer, inputs[i].bytes, cudaMemcpyHostToDevice));
        free(buffer);
        free(array);
    }
    const uint64_t *in[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        in[i] = registered[i];
    }
    cudlaTask task = {
        .moduleHandle = module,
        .outputTensor = &registered[INPUTS],
        .numOutputTensors = OUTPUTS,
        .numInputTensors = INPUTS,
        .inputTensor = in,
    };
    CHECK(cudlaSubmitTask(device, &task, 1, stream, 0));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudlaGetLastError(device));
    for (int i = 0; i < OUTPUTS; i++) {
        size_t bytes = outputs[i].elements * bytes_of(outputs[i].type);
        unsigned char *buffer = malloc(outputs[i].bytes), *array = malloc(bytes);
        CHECK(cudaMemcpy(buffer, memory[INPUTS + i], outputs[i].bytes, cudaMemcpyDeviceToHost));
        dequantise(&outputs[i], buffer, array);
        FILE *file = fopen(argv[2 + INPUTS + i], "wb");
        if (file == NULL || fwrite(array, 1, bytes, file) != bytes || fclose(file) != 0) {
            perror(argv[2 + INPUTS + i]);
            return 1;
        }
        free(buffer);
        free(array);
    }
    for (int i = 0; i < INPUTS + OUTPUTS; i++) {
        CHECK(cudlaMemUnregister(device, registered[i]));
        CHECK(cudaFree(memory[i]));
    }
    CHECK(cudlaModuleUnload(module, 0));
    CHECK(cudaStreamDestroy(stream));
    CHECK(cudlaDestroyDevice(device));
    free(loadable);
    return 0;
}
