/* What a task of the sampler does. Included by sampler.h only. */
#ifndef CUPVA_SAMPLER_RUN_H
#define CUPVA_SAMPLER_RUN_H

#include <string.h>

namespace pva {

/* The first task of the list that was started and not waited for. */
inline CupvaSampler const *&sampler_active()
{
    static CupvaSampler const *active;
    return active;
}

inline void sampler_idle(const char *what)
{
    if (sampler_active() == nullptr)
        return;
    static char text[120];
    strcpy(text, what);
    strcat(text, " while a list of sampler tasks is active; cupvaSamplerWait() comes first");
    pva_rt_misuse(text);
}

inline void sampler_check(CupvaSampler const &task)
{
    CupvaSamplerInput2D const &table = task.input;
    const bool tiles = task.mode == SAMPLER_MODE_TILE;
    const int entry = table.type < SAMPLER_INPUT_U16 ? 1 : table.type < SAMPLER_INPUT_U32 ? 2 : 4;
    if (table.type > SAMPLER_INPUT_S32 || (!tiles && task.indices.type > SAMPLER_INDEX_S32))
        pva_rt_misuse("sampler: no such type of entries or indices");
    if (table.width == 0 || table.height == 0)
        pva_rt_misuse("sampler: a table without entries");
    if (table.linePitch && table.linePitch < table.width)
        pva_rt_misuse("sampler: a line pitch less than the table's width");
    if (table.flags)
        pva_rt_misuse("sampler: flags of a 2-D table do not exist here");
    if ((tiles ? task.tiles.fractionalBits : task.indices.fractionalBits) > 16)
        pva_rt_misuse("sampler: more than 16 fractional bits");
    if (task.output.transMode != TRANS_MODE_NONE && task.output.transMode != TRANS_MODE_1)
        pva_rt_misuse("sampler: the output's mode is TRANS_MODE_NONE or TRANS_MODE_1");
    if (task.output.transMode == TRANS_MODE_1) {
        if (entry == 1)
            pva_rt_misuse("sampler: outputs of 8 bits have TRANS_MODE_NONE only");
        if (task.output.pitch % (64 / entry) != 1)
            pva_rt_misuse("sampler: with TRANS_MODE_1 the pitch is 64 / sizeof(pixel) * k + 1");
    }
}

/* One entry of a table, or what stands for it. */
template <typename T> struct sampler_table {
    CupvaSamplerInput2D const &input;
    const uint8_t *data;

    /* False: no output. */
    inline bool entry(int64_t x, int64_t y, int64_t &value) const
    {
        const int64_t width = input.width, height = input.height;
        if (x < 0 || y < 0 || x >= width || y >= height) {
            if (input.outOfRangeMode == SAMPLER_OUT_OF_RANGE_SKIP)
                return false;
            if (input.outOfRangeMode == SAMPLER_OUT_OF_RANGE_CONSTANT) {
                value = (T)input.outOfRangeVal;
                return true;
            }
            x = x < 0 ? 0 : x >= width ? width - 1 : x;
            y = y < 0 ? 0 : y >= height ? height - 1 : y;
        }
        const int64_t pitch = input.linePitch ? input.linePitch : width;
        T loaded;
        memcpy(&loaded, data + (y * pitch + x) * (int64_t)sizeof loaded, sizeof loaded);
        value = loaded;
        return true;
    }

    /* At a position in units of 1 / 2^bits: the four entries around it by their weights, rounded to the
     * nearest, halves up. Entries of weight 0 are not looked at. */
    inline bool interpolated(int64_t x, int64_t y, int bits, int64_t &value) const
    {
        const int64_t one = (int64_t)1 << bits, fx = x & (one - 1), fy = y & (one - 1);
        __int128 sum = 0;
        for (int i = 0; i < 4; i++) {
            const int64_t weight = (i & 1 ? fx : one - fx) * (i & 2 ? fy : one - fy);
            int64_t found;
            if (weight == 0)
                continue;
            if (!entry((x >> bits) + (i & 1), (y >> bits) + (i >> 1), found))
                return false;
            sum += (__int128)weight * found;
        }
        value = (int64_t)((sum + (one * one >> 1)) >> (2 * bits));
        return true;
    }

    inline bool at(int64_t x, int64_t y, int bits, CupvaSamplerIndexRoundingMode how, int64_t &value) const
    {
        if (how == SAMPLER_FRAC_HANDLING_INTERPOLATE)
            return interpolated(x, y, bits, value);
        const int64_t half = how == SAMPLER_FRAC_HANDLING_ROUND ? ((int64_t)1 << bits) >> 1 : 0;
        return entry((x + half) >> bits, (y + half) >> bits, value);
    }
};

inline int64_t sampler_index(void const *data, CupvaSamplerIndexType type, int64_t number)
{
    const uint8_t *from = (const uint8_t *)data + number * (type < SAMPLER_INDEX_U32 ? 2 : 4);
    uint32_t wide;
    uint16_t narrow;
    if (type < SAMPLER_INDEX_U32) {
        memcpy(&narrow, from, sizeof narrow);
        return type == SAMPLER_INDEX_S16 ? (int16_t)narrow : (int64_t)narrow;
    }
    memcpy(&wide, from, sizeof wide);
    return type == SAMPLER_INDEX_S32 ? (int32_t)wide : (int64_t)wide;
}

/* Output `number` of row or tile `line`. */
template <typename T> inline void sampler_put(CupvaSamplerOutput const &output, int64_t line, int64_t number, int64_t value)
{
    const int64_t pitch = output.pitch;
    const int64_t at = output.transMode == TRANS_MODE_1 ? number * pitch + line : line * pitch + number;
    const T stored = (T)value;
    memcpy((uint8_t *)output.data + at * (int64_t)sizeof stored, &stored, sizeof stored);
}

template <typename T> inline void sampler_indices(CupvaSampler const &task)
{
    CupvaSamplerIndices2D const &in = task.indices;
    const bool flat = task.mode == SAMPLER_MODE_1D;
    const int64_t pitch = in.linePitch ? in.linePitch : in.width;
    const int swap = in.interleaving == SAMPLER_INTERLEAVING_YX;
    for (int64_t row = 0; row < in.height; row++) {
        const sampler_table<T> table = {task.input, (const uint8_t *)task.input.data + row * task.input.inputAdv};
        for (int64_t i = 0; i < in.width; i++) {
            const int64_t number = (row * pitch + i) * (flat ? 1 : 2);
            const int64_t x = sampler_index(in.data, in.type, number + swap) + in.offsetX;
            const int64_t y = flat ? 0 : sampler_index(in.data, in.type, number + 1 - swap) + in.offsetY;
            int64_t value;
            if (table.at(x, y, in.fractionalBits, in.fractionalHandling, value))
                sampler_put<T>(task.output, row, i, value);
        }
    }
}

template <typename T> inline void sampler_tiles(CupvaSampler const &task)
{
    CupvaSamplerTiles const &in = task.tiles;
    const int bits = in.fractionalBits;
    for (int64_t tile = 0; tile < in.count; tile++) {
        const sampler_table<T> table = {task.input, (const uint8_t *)task.input.data + tile * task.input.inputAdv};
        const int64_t word = sampler_index(in.data, SAMPLER_INDEX_U32, tile);
        const int64_t left = (word & 0xffff) + in.offsetX, top = (word >> 16) + in.offsetY;
        for (int64_t i = 0; i < (int64_t)in.width * in.height; i++) {
            const bool columns = in.tileTraversalMode == SAMPLER_TRAVERSAL_TRANSPOSED;
            const int64_t x = columns ? i / in.height : i % in.width;
            const int64_t y = columns ? i % in.height : i / in.width;
            int64_t value;
            if (table.interpolated(left + (x << bits), top + (y << bits), bits, value))
                sampler_put<T>(task.output, tile, i, value);
        }
    }
}

template <typename T> inline void sampler_run_as(CupvaSampler const &task)
{
    if (task.mode == SAMPLER_MODE_TILE)
        sampler_tiles<T>(task);
    else
        sampler_indices<T>(task);
}

inline void sampler_run(CupvaSampler const &task)
{
    switch (task.input.type) {
    case SAMPLER_INPUT_U8: return sampler_run_as<uint8_t>(task);
    case SAMPLER_INPUT_S8: return sampler_run_as<int8_t>(task);
    case SAMPLER_INPUT_U16: return sampler_run_as<uint16_t>(task);
    case SAMPLER_INPUT_S16: return sampler_run_as<int16_t>(task);
    case SAMPLER_INPUT_U32: return sampler_run_as<uint32_t>(task);
    case SAMPLER_INPUT_S32: return sampler_run_as<int32_t>(task);
    }
}

} // namespace pva

#endif
