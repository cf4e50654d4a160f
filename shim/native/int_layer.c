/* Integer convolution on NVDLA's layouts, with SDP behind each tile of sums.
 *
 * The input is packed once into a frame [y][x][channel] with its padding, in the form that the
 * instructions want; windows are read from the frame where they lie. Tiles of a few pixels and up to
 * 64 kernels go from sums to written output while they are in the nearest cache.
 */
#include <stdlib.h>
#include <string.h>

#include "native/cpu.h"
#include "native/int_brief.h"
#include "native/int_diagonal.h"
#include "native/int_dot.h"
#include "native/int_sdp.h"
#include "native/int_wide.h"
#include "native/native.h"
#include "native/parallel.h"

#pragma GCC optimize("O3")

static int describe(const struct sim_dot *dot, struct sim_dot_kind *kind)
{
    int block = dot->block ? dot->block : dot->kernels;
    *kind = (struct sim_dot_kind){dot->name, block, dot->group, dot->item, dot->offset, dot->whole};
    return dot->supported() ? 1 : -1;
}

int sim_dot_kind(int number, struct sim_dot_kind *kind)
{
    return number < 0 || number >= sim_dot_count ? 0 : describe(&sim_dots[number], kind);
}

int sim_wide_kind(int number, struct sim_dot_kind *kind)
{
    return number < 0 || number >= sim_wide_count ? 0 : describe(&sim_wides[number], kind);
}

int sim_diagonal_kind(int number, struct sim_dot_kind *kind)
{
    return number < 0 || number >= sim_diagonal_count ? 0 : describe(&sim_diagonals[number], kind);
}

struct layer {
    struct sim_window *window;
    const struct sim_dot *dot;
    uint8_t *frame;
    int64_t *runs;
    int32_t *sums;
    struct sim_sdp_run sdp;
    struct sim_brief brief;
    int is_brief;
    int next_line;
    int next_item, chunk, chunks, blocks;
};

/* --- the frame ------------------------------------------------------------------------------- */

/* Input of 16 bits. */
INLINE void put_short(uint8_t *to, const uint8_t *from, int count, int item, int flip,
                      const struct sim_converter *convert)
{
    if (!convert->used) { /* the elements of the frame have 16 bits, too */
        memcpy(to, from, 2 * (size_t)count);
        return;
    }
    double offset = convert->offset, factor = convert->factor;
    double low = convert->low, high = convert->high;
    int16_t *wide = (int16_t *)to;
    for (int i = 0; i < count; i++) {
        double value = ((int16_t)(from[2 * i] | from[2 * i + 1] << 8) - offset) * factor;
        value = __builtin_trunc(value + __builtin_copysign(0.5, value));
        value = value < low ? low : value > high ? high : value;
        if (item == 1)
            to[i] = (uint8_t)(int32_t)value ^ (uint8_t)flip;
        else
            wide[i] = (int16_t)(int32_t)value;
    }
}

INLINE void put(uint8_t *to, const uint8_t *from, int count, int item, int flip,
                const struct sim_window *window)
{
    const int16_t *table = window->table;
    if (window->input.item == 2) {
        put_short(to, from, count, item, flip, &window->convert);
        return;
    }
    if (table != NULL) {
        int16_t *wide = (int16_t *)to;
        for (int i = 0; i < count; i++) {
            if (item == 1)
                to[i] = (uint8_t)table[from[i]] ^ (uint8_t)flip;
            else
                wide[i] = table[from[i]];
        }
        return;
    }
    if (item == 1) {
        for (int i = 0; i < count; i++)
            to[i] = from[i] ^ (uint8_t)flip;
    } else {
        int16_t *wide = (int16_t *)to;
        for (int i = 0; i < count; i++)
            wide[i] = (int8_t)from[i];
    }
}

static void fill(uint8_t *to, size_t count, int item, int value)
{
    if (item == 1)
        memset(to, value, count);
    else
        for (size_t i = 0; i < count; i++)
            ((int16_t *)to)[i] = (int16_t)value;
}

INLINE void pack_line_body(const struct layer *layer, int number)
{
    const struct sim_window *w = layer->window;
    const struct sim_cube *input = &w->input;
    int item = layer->dot->item, flip = layer->dot->offset;
    int pad = w->pad + flip;
    size_t pixel = (size_t)w->channels * (size_t)item;
    uint8_t *line = layer->frame + (size_t)number * (size_t)w->width * pixel;
    int y = number * w->step_y - w->top;
    if (y < 0 || y >= w->in_height) {
        fill(line, (size_t)w->width * (size_t)w->channels, item, pad);
        return;
    }
    int first = (w->left + w->step_x - 1) / w->step_x; /* pixels of the frame with input below */
    int last = (w->in_width + w->left + w->step_x - 1) / w->step_x;
    first = first < w->width ? first : w->width;
    last = last < w->width ? last : w->width;
    fill(line, (size_t)first * (size_t)w->channels, item, pad);
    fill(line + (size_t)last * pixel, (size_t)(w->width - last) * (size_t)w->channels, item, pad);
    int64_t step = w->step_x * input->pixel;
    const uint8_t *source = input->base + y * input->line + (first * w->step_x - w->left) * input->pixel;
    for (int channel = 0; channel < w->channels; channel += input->atom, source += input->surface) {
        int count = w->channels - channel < input->atom ? w->channels - channel : input->atom;
        const uint8_t *from = source;
        uint8_t *to = line + (size_t)first * pixel + (size_t)channel * (size_t)item;
        int pixels = last - first;
        if (count == 32)
            for (int x = 0; x < pixels; x++, from += step, to += pixel)
                put(to, from, 32, item, flip, w);
        else if (count == 8)
            for (int x = 0; x < pixels; x++, from += step, to += pixel)
                put(to, from, 8, item, flip, w);
        else
            for (int x = 0; x < pixels; x++, from += step, to += pixel)
                put(to, from, count, item, flip, w);
    }
}

LEVELS(void, pack_line, (const struct layer *layer, int number), (layer, number))

enum { LINES_OF_STEP = 4 };

static void pack_some(void *argument)
{
    struct layer *layer = argument;
    for (;;) {
        int first = __atomic_fetch_add(&layer->next_line, LINES_OF_STEP, __ATOMIC_RELAXED);
        if (first >= layer->window->height)
            return;
        for (int i = first; i < first + LINES_OF_STEP && i < layer->window->height; i++)
            pack_line(layer, i);
    }
}

/* --- tiles ----------------------------------------------------------------------------------- */

static void widen(double *to, const int32_t *from, int count)
{
    for (int i = 0; i < count; i++)
        to[i] = from[i];
}

/* CACC: half away from zero. */
INLINE void truncate_sums_body(int32_t *sums, int count, int by)
{
    for (int i = 0; i < count; i++) {
        int64_t value = sums[i];
        sums[i] = (int32_t)((value + ((int64_t)1 << (by - 1)) + (value >> 63)) >> by);
    }
}

LEVELS(void, truncate_sums, (int32_t *sums, int count, int by), (sums, count, by))

struct scratch {
    struct sim_tile tile;
    int32_t sums[SIM_DOT_PIXELS * SIM_DOT_KERNELS];
    int64_t wide[SIM_WIDE_SUMS];
    int64_t saturated;
};

/* CACC, for wide sums: truncates and cuts to 32 bits; how many of the first `real` of each pixel's
 * `kernels` it cut. */
INLINE int64_t narrow_body(const int64_t *wide, int32_t *sums, int pixels, int kernels, int real,
                             int by)
{
    int64_t half = by ? (int64_t)1 << (by - 1) : 0, sign = by ? -1 : 0, cut = 0;
    for (int p = 0; p < pixels; p++, wide += kernels, sums += kernels)
        for (int k = 0; k < kernels; k++) {
            int64_t value = (wide[k] + half + (wide[k] >> 63 & sign)) >> by;
            int64_t limited = value < INT32_MIN ? INT32_MIN : value > INT32_MAX ? INT32_MAX : value;
            cut += k < real && limited != value;
            sums[k] = (int32_t)limited;
        }
    return cut;
}

LEVELS(int64_t, narrow, (const int64_t *wide, int32_t *sums, int pixels, int kernels, int real, int by), (wide, sums, pixels, kernels, real, by))

/* Channels past the last kernel: sums are 0. */
static void empty_tile(const struct layer *layer, struct scratch *s, int first, int last)
{
    struct sim_tile *tile = &s->tile;
    for (tile->pixel = first; tile->pixel < last; tile->pixel += tile->pixels) {
        tile->pixels = last - tile->pixel < SIM_TILE_PIXELS ? last - tile->pixel : SIM_TILE_PIXELS;
        memset(tile->values, 0, sizeof(double) * (size_t)(tile->pixels * tile->channels));
        sim_sdp_tile(&layer->sdp, tile);
    }
}

static void deliver(const struct layer *layer, struct scratch *s, int kernels)
{
    const struct sim_window *w = layer->window;
    struct sim_tile *tile = &s->tile;
    int present = w->kernels - tile->channel;
    if (w->wide)
        s->saturated += narrow(s->wide, s->sums, tile->pixels, kernels, present, w->truncate);
    else if (w->truncate)
        truncate_sums(s->sums, tile->pixels * kernels, w->truncate);
    if (layer->sums != NULL) {
        for (int p = 0; p < tile->pixels; p++)
            memcpy(layer->sums + (size_t)(tile->pixel + p) * (size_t)w->kernels + tile->channel,
                   s->sums + p * kernels, sizeof(int32_t) * (size_t)tile->channels);
        return;
    }
    if (layer->is_brief) {
        sim_brief_tile(&layer->brief, &layer->sdp, tile, s->sums, kernels);
        return;
    }
    if (tile->channels == kernels) {
        widen(tile->values, s->sums, tile->pixels * kernels);
    } else {
        for (int p = 0; p < tile->pixels; p++) {
            int real = tile->channels < kernels ? tile->channels : kernels;
            widen(tile->values + p * tile->channels, s->sums + p * kernels, real);
            for (int c = real; c < tile->channels; c++)
                tile->values[p * tile->channels + c] = 0.0;
        }
    }
    sim_sdp_tile(&layer->sdp, tile);
}

static void work_item(const struct layer *layer, struct scratch *s, int item)
{
    const struct sim_window *w = layer->window;
    const struct sim_dot *dot = layer->dot;
    int all = w->out_height * w->out_width;
    int first = item / layer->blocks * layer->chunk, block = item % layer->blocks;
    int last = first + layer->chunk < all ? first + layer->chunk : all;
    int channel = block * dot->kernels;
    int channels = layer->sums != NULL ? w->kernels : layer->sdp.sdp->channels;
    struct sim_tile *tile = &s->tile;
    tile->channel = channel;
    tile->channels = channels - channel < dot->kernels ? channels - channel : dot->kernels;
    if (channel >= w->kernels) {
        empty_tile(layer, s, first, last);
        return;
    }
    int kernels = w->kernels - channel < dot->kernels ? (w->kernels - channel + 15) / 16 * 16
                                                      : dot->kernels;
    size_t per_kernel = (size_t)w->run_count * (size_t)w->groups * (size_t)(dot->group * dot->item);
    if (w->wide && !dot->whole)
        per_kernel *= 2; /* low and high parts */
    size_t pixel = (size_t)w->channels * (size_t)dot->item;
    size_t skipped = w->diagonal ? (size_t)channel * (size_t)dot->item : 0;
    size_t step_x = (size_t)w->stride_x * pixel;
    size_t step_y = (size_t)w->stride_y * (size_t)w->width * pixel;
    struct sim_dot_tile job = {
        .runs = layer->runs,
        .run_count = (size_t)w->run_count,
        .groups = (size_t)w->groups,
        .weights = (const uint8_t *)w->weights + per_kernel * (size_t)channel,
        .start = w->start + channel,
        .sums = s->sums,
        .wide = s->wide,
    };
    if (dot->whole) /* behind the weights, which are padded */
        job.apart = (const uint8_t *)w->weights + per_kernel * (size_t)((w->kernels + 15) / 16 * 16) +
                    (size_t)(channel / dot->block) * job.run_count * job.groups;
    int y = first / w->out_width, x = first % w->out_width;
    for (tile->pixel = first; tile->pixel < last; tile->pixel += tile->pixels) {
        tile->pixels = last - tile->pixel < dot->pixels ? last - tile->pixel : dot->pixels;
        for (int p = 0; p < tile->pixels; p++) {
            job.pixels[p] = layer->frame + (size_t)y * step_y + (size_t)x * step_x + skipped;
            if (++x == w->out_width) {
                x = 0;
                y++;
            }
        }
        if (w->wide)
            memset(s->wide, 0, sizeof *s->wide * (size_t)(tile->pixels * kernels));
        dot->run(&job, tile->pixels, kernels);
        deliver(layer, s, kernels);
    }
}

static void multiply_some(void *argument)
{
    struct layer *layer = argument;
    struct scratch scratch;
    sim_tile_begin(&scratch.tile);
    scratch.saturated = 0;
    for (;;) {
        int item = __atomic_fetch_add(&layer->next_item, 1, __ATOMIC_RELAXED);
        if (item >= layer->chunks * layer->blocks)
            break;
        work_item(layer, &scratch, item);
    }
    __atomic_fetch_add(&layer->window->saturated, scratch.saturated, __ATOMIC_RELAXED);
    if (layer->sums == NULL)
        sim_tile_end(&layer->sdp, &scratch.tile);
}

/* --- the layer ------------------------------------------------------------------------------- */

enum { FRAME_OF_CHUNK = 192 << 10, PIXELS_OF_CHUNK = 48, SLACK = 256 };

static void share_out(struct layer *layer, size_t threads, int channels)
{
    const struct sim_window *w = layer->window;
    int all = w->out_height * w->out_width;
    size_t of_pixel = (size_t)w->channels * (size_t)(layer->dot->item * w->stride_y * w->stride_x);
    size_t chunk = FRAME_OF_CHUNK / of_pixel;
    size_t least = PIXELS_OF_CHUNK, most = ((size_t)all + threads - 1) / threads;
    layer->blocks = (channels + layer->dot->kernels - 1) / layer->dot->kernels;
    if (most < least && layer->blocks >= (int)threads)
        most = (size_t)all; /* few pixels: kernels are shared out */
    chunk = chunk > most ? most : chunk;
    chunk = chunk < least ? least : chunk;
    size_t tile = (size_t)layer->dot->pixels;
    layer->chunk = (int)((chunk + tile - 1) / tile * tile);
    layer->chunks = (all + layer->chunk - 1) / layer->chunk;
}

int sim_int_conv(struct sim_window *window, struct sim_sdp *sdp, int32_t *sums)
{
    struct layer layer = {.window = window, .sums = sums};
    layer.dot = window->wide       ? &sim_wides[window->dot]
                : window->diagonal ? &sim_diagonals[window->dot]
                                   : &sim_dots[window->dot];
    window->saturated = 0;
    const struct sim_window *w = window;
    size_t item = (size_t)layer.dot->item;
    size_t elements = (size_t)w->height * (size_t)w->width * (size_t)w->channels;
    int channels = sums != NULL ? w->kernels : sdp->channels, failed = 0;
    layer.frame = malloc(elements * item + SLACK);
    layer.runs = malloc(sizeof *layer.runs * (size_t)w->run_count);
    failed = layer.frame == NULL || layer.runs == NULL;
    if (!failed && sums == NULL)
        failed = sim_sdp_begin(&layer.sdp, sdp);
    if (!failed && sums == NULL && !w->wide) {
        layer.is_brief = sim_brief_begin(&layer.brief, &layer.sdp, w->bound, layer.dot->name);
        failed = layer.is_brief < 0;
        if (failed)
            sim_sdp_end(&layer.sdp);
    }
    if (!failed) {
        memset(layer.frame + elements * item, 0, SLACK);
        for (int i = 0; i < w->run_count; i++)
            layer.runs[i] = w->runs[i] * (int64_t)item;
        double outputs = (double)w->out_height * w->out_width * channels;
        double rate = w->wide ? 25 : 100; /* products a nanosecond */
        double work = outputs * w->run_count * w->groups * layer.dot->group / rate + outputs;
        size_t threads = sim_threads_for(work);
        sim_parallel(pack_some, &layer, sim_threads_for((double)elements / 4));
        share_out(&layer, threads, channels);
        sim_parallel(multiply_some, &layer, threads);
        if (layer.is_brief)
            sim_brief_end(&layer.brief);
        if (sums == NULL)
            sim_sdp_end(&layer.sdp);
    }
    free(layer.frame);
    free(layer.runs);
    return failed ? -1 : 0;
}
