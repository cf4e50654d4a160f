/*
 * Sampler: tables looked up by a unit beside the VPU, with interpolation between their entries. A
 * kernel sets tasks up, links them to a list, starts the list and waits for it; the results are there
 * after the wait. Names of structures, fields and functions are the vendor's; of the enumerators only
 * the defaults are public, the others are after their pattern.
 */
#ifndef CUPVA_SAMPLER_H
#define CUPVA_SAMPLER_H

#include "device_core.h"

/* Entries of a table, and of the output. */
typedef enum {
    SAMPLER_INPUT_U8 = 0,
    SAMPLER_INPUT_S8,
    SAMPLER_INPUT_U16,
    SAMPLER_INPUT_S16,
    SAMPLER_INPUT_U32,
    SAMPLER_INPUT_S32
} CupvaSamplerInputType;

typedef enum {
    SAMPLER_INDEX_U16 = 0,
    SAMPLER_INDEX_S16,
    SAMPLER_INDEX_U32,
    SAMPLER_INDEX_S32
} CupvaSamplerIndexType;

/* What becomes of an index's fraction: dropped, rounded (halves up), or used as weights. */
typedef enum {
    SAMPLER_FRAC_HANDLING_TRUNCATE = 0,
    SAMPLER_FRAC_HANDLING_ROUND,
    SAMPLER_FRAC_HANDLING_INTERPOLATE
} CupvaSamplerIndexRoundingMode;

/* Entries outside the table: a constant, the nearest entry, or no output for that index. */
typedef enum {
    SAMPLER_OUT_OF_RANGE_CONSTANT = 0,
    SAMPLER_OUT_OF_RANGE_CLAMP,
    SAMPLER_OUT_OF_RANGE_SKIP
} CupvaSamplerTaskOutOfRangeHandlingMode;

/* Pairs of indices: x y x y ..., or y x y x ... */
typedef enum {
    SAMPLER_INTERLEAVING_XY = 0,
    SAMPLER_INTERLEAVING_YX
} CupvaSamplerIndexInterleavingMode;

/* A tile's position in one word: x in bits 15..0, y in bits 31..16. */
typedef enum { SAMPLER_TILE_TRANS_ONLY = 0 } CupvaSamplerTileType;

/* The pixels of a tile by rows, or by columns. */
typedef enum { SAMPLER_TRAVERSAL_STANDARD = 0, SAMPLER_TRAVERSAL_TRANSPOSED } CupvaSamplerTileTraversalMode;

typedef enum { SAMPLER_INPUT_2D_FLAGS_NONE = 0 } CupvaSamplerInput2DFlags;

typedef enum { SAMPLER_MODE_1D = 0, SAMPLER_MODE_2D, SAMPLER_MODE_TILE } CupvaSamplerMode;

typedef struct {
    void const *data;
    CupvaSamplerInputType type;
    uint32_t length;    /* entries */
    ptrdiff_t inputAdv; /* bytes from the table of one row of indices to that of the next */
    CupvaSamplerTaskOutOfRangeHandlingMode outOfRangeMode;
    uint32_t outOfRangeVal;
} CupvaSamplerInput1D;

typedef struct {
    void const *data;
    CupvaSamplerInputType type;
    uint32_t width, height; /* entries */
    uint32_t linePitch;     /* entries; 0: width */
    ptrdiff_t inputAdv;     /* bytes from the table of one row of indices, or tile, to the next */
    CupvaSamplerTaskOutOfRangeHandlingMode outOfRangeMode;
    uint32_t outOfRangeVal;
    uint32_t flags; /* CupvaSamplerInput2DFlags */
} CupvaSamplerInput2D;

typedef struct {
    void const *data;
    CupvaSamplerIndexType type;
    uint16_t width, height, linePitch; /* indices; pitch 0: width */
    uint8_t fractionalBits;
    CupvaSamplerIndexRoundingMode fractionalHandling;
    int32_t offset; /* added to each index as it lies in memory, its fraction included */
} CupvaSamplerIndices1D;

typedef struct {
    void const *data;
    CupvaSamplerIndexType type;
    uint16_t width, height, linePitch; /* pairs of indices; pitch 0: width */
    uint8_t fractionalBits;
    CupvaSamplerIndexRoundingMode fractionalHandling;
    int32_t offsetX, offsetY;
    CupvaSamplerIndexInterleavingMode interleaving;
} CupvaSamplerIndices2D;

/* Tiles of width x height samples, one pixel apart, interpolated. */
typedef struct {
    void const *data;
    CupvaSamplerTileType type;
    uint8_t width, height;
    uint16_t count;
    uint8_t fractionalBits;
    int32_t offsetX, offsetY;
    CupvaSamplerTileTraversalMode tileTraversalMode;
} CupvaSamplerTiles;

/* pitch in pixels. TRANS_MODE_NONE: from the output of one row of indices, or tile, to the next.
 * TRANS_MODE_1: from one output to the next within a row or tile; those are one pixel apart. */
typedef struct {
    void *data;
    uint16_t pitch;
    TranspositionMode transMode;
} CupvaSamplerOutput;

/* A task. Opaque; lies in VMEM. */
struct CupvaSampler {
    CupvaSamplerMode mode;
    CupvaSamplerInput2D input;
    CupvaSamplerIndices2D indices;
    CupvaSamplerTiles tiles;
    CupvaSamplerOutput output;
    CupvaSampler const *next;
};

#include "sampler_run.h"

/* One dimension: width x height indices into a table of `length` entries. */
static inline void cupvaSamplerSetup(CupvaSampler *task, CupvaSamplerInput1D const *input,
                                     CupvaSamplerIndices1D const *indices, CupvaSamplerOutput const *output)
{
    *task = CupvaSampler{};
    task->mode = SAMPLER_MODE_1D;
    task->input = {input->data, input->type, input->length, 1, input->length, input->inputAdv,
                   input->outOfRangeMode, input->outOfRangeVal, 0};
    task->indices = {indices->data, indices->type, indices->width, indices->height, indices->linePitch,
                     indices->fractionalBits, indices->fractionalHandling, indices->offset, 0,
                     SAMPLER_INTERLEAVING_XY};
    task->output = *output;
    pva::sampler_check(*task);
}

/* Two dimensions: width x height pairs of indices into a table of width x height entries. */
static inline void cupvaSamplerSetup(CupvaSampler *task, CupvaSamplerInput2D const *input,
                                     CupvaSamplerIndices2D const *indices, CupvaSamplerOutput const *output)
{
    *task = CupvaSampler{};
    task->mode = SAMPLER_MODE_2D;
    task->input = *input;
    task->indices = *indices;
    task->output = *output;
    pva::sampler_check(*task);
}

static inline void cupvaSamplerSetup(CupvaSampler *task, CupvaSamplerInput2D const *input,
                                     CupvaSamplerTiles const *tiles, CupvaSamplerOutput const *output)
{
    *task = CupvaSampler{};
    task->mode = SAMPLER_MODE_TILE;
    task->input = *input;
    task->tiles = *tiles;
    task->output = *output;
    pva::sampler_check(*task);
}

/* The name of cupvaSamplerSetup() in the descriptions of its structures. */
template <typename Input, typename Positions>
static inline void cupvaSamplerInit(CupvaSampler *task, Input const *input, Positions const *positions,
                                    CupvaSamplerOutput const *output)
{
    cupvaSamplerSetup(task, input, positions, output);
}

/* `next` runs after `task`; NULL ends the list there. */
static inline void cupvaSamplerLink(CupvaSampler *task, CupvaSampler const *next)
{
    pva::sampler_idle("cupvaSamplerLink()");
    task->next = next;
}

/* Starts the list that begins with `head`. One list is active at a time. */
static inline void cupvaSamplerStart(CupvaSampler const *head)
{
    pva::sampler_idle("cupvaSamplerStart()");
    pva::sampler_active() = head;
}

/* Waits for the active list; returns at once when there is none. */
static inline void cupvaSamplerWait(void)
{
    CupvaSampler const *&active = pva::sampler_active();
    for (; active; active = active->next)
        pva::sampler_run(*active);
}

/* Other buffers of the same shape; what is NULL stays. `indices` are the tiles of a task with tiles. */
static inline void cupvaSamplerUpdateAddrs(CupvaSampler *task, void const *input, void const *indices,
                                           void *output)
{
    if (input)
        task->input.data = input;
    if (indices)
        task->indices.data = task->tiles.data = indices;
    if (output)
        task->output.data = output;
}

/* Another extent of the table, in entries; linePitch 0: width. */
static inline void cupvaSamplerUpdateInputAttributes(CupvaSampler *task, uint32_t const width,
                                                     uint32_t const height, uint32_t const linePitch)
{
    task->input.width = width;
    task->input.height = height;
    task->input.linePitch = linePitch;
    pva::sampler_check(*task);
}

#endif
