/*
 * Kernels of vectors beside plain loops: prints "name us us", processor time of a frame of 1920 x 1080
 * with vectors and with a plain loop. Tiles lie in VMEM; dataflows are measured elsewhere.
 */
#include <cupva_device.h>
#include <cupva_device_debug.h>

#include <string.h>
#include <time.h>

#include "cupva_kernels.h"

enum { REPEATS = 15, LANES = 32 };

VMEM(A, uint16_t, in, PITCH * ROWS);
VMEM(B, uint16_t, out, TILE_W * TILE_H);
VMEM(C, uint16_t, expected, TILE_W * TILE_H);
VMEM(A, uint8_t, a8, TILE_W * TILE_H);
VMEM(B, uint8_t, b8, TILE_W * TILE_H);
VMEM(C, int16_t, coefficients, 25);

/* Windows of n x n pixels from (first, first) on, for all outputs in turn. */
static agen windows(int32_t n, int32_t first)
{
    AgenWrapper w;
    w.size = sizeof(uint16_t);
    w.n1 = n, w.s1 = 1;
    w.n2 = n, w.s2 = PITCH;
    w.n3 = TILE_W / LANES, w.s3 = LANES;
    w.n4 = TILE_H, w.s4 = PITCH;
    agen result = init((dvushort *)(in + first * PITCH + first));
    INIT_AGEN4(result, w);
    return result;
}

static agen outputs(void)
{
    AgenWrapper w;
    w.size = sizeof(uint16_t);
    w.n1 = TILE_W * TILE_H / LANES, w.s1 = LANES;
    agen result = init((dvushort *)out);
    INIT_AGEN1(result, w);
    return result;
}

static void filter_multiply_add(void)
{
    agen from = windows(5, 0), to = outputs();
    for (int32_t i = 0; i < TILE_W * TILE_H / LANES; i++) chess_prepare_for_pipelining {
        dvshortx sum = dvshortx{};
        for (int32_t k = 0; k < 25; k++) chess_unroll_loop(25) {
            vshortx c = replicateh(coefficients[k]);
            sum = dvmaddh(dvushort_load(from), dvjoin(c, c), sum, VPU_ROUND_0);
        }
        vstore(sum >> 4, to);
    }
}

static void filter_operators(void)
{
    agen from = windows(5, 0), to = outputs();
    for (int32_t i = 0; i < TILE_W * TILE_H / LANES; i++) chess_prepare_for_pipelining {
        dvshortx sum = dvushort_load(from) * coefficients[0];
        for (int32_t k = 1; k < 25; k++)
            sum += dvushort_load(from) * coefficients[k];
        vstore(sum >> 4, to);
    }
}

static void box(void)
{
    agen from = windows(5, 0), to = outputs();
    for (int32_t i = 0; i < TILE_W * TILE_H / LANES; i++) {
        dvshortx sum = dvushort_load(from);
        for (int32_t k = 1; k < 25; k++)
            sum += dvushort_load(from);
        vstore(sum >> 5, to);
    }
}

static const int32_t LIMIT = 3000;

static void neighbours(void)
{
    agen from = windows(3, 1), centres = windows(1, 2), to = outputs();
    for (int32_t i = 0; i < TILE_W * TILE_H / LANES; i++) {
        dvshortx centre = dvushort_load(centres), near = dvshortx{}, largest = dvshortx{};
        for (int32_t k = 0; k < 9; k++) {
            dvshortx other = dvushort_load(from);
            near += dvabsdif(other, centre) < LIMIT;
            largest = dvmax(largest, other);
        }
        vstore(dvmux(near < 4, largest, centre), to);
    }
}

static void difference(void)
{
    AgenWrapper w;
    w.n1 = TILE_W * TILE_H / 64, w.s1 = 64;
    agen one = init((dvuchar *)a8), other = init((dvuchar *)b8), to = init((dvuchar *)out);
    INIT_AGEN1(one, w);
    INIT_AGEN1(other, w);
    INIT_AGEN1(to, w);
    for (int32_t i = 0; i < TILE_W * TILE_H / 64; i++)
        vstore(dvabsdif(dvuchar_load(one), dvuchar_load(other)), to);
}

static double now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return now.tv_sec * 1e6 + now.tv_nsec / 1e3;
}

template <typename F> static double frame_us(F work)
{
    double begin = now_us();
    for (int32_t i = 0; i < TILES; i++) {
        work();
        chess_memory_fence();
    }
    return now_us() - begin;
}

/* The least of several frames each, in turns: what others do on this machine adds to both. */
template <typename V, typename P> static int compare(const char *name, V vectors, P plain, size_t size)
{
    double best = 1e30, reference = 1e30;
    for (int repeat = 0; repeat < REPEATS; repeat++) {
        double us = frame_us(vectors);
        best = us < best ? us : best;
        us = frame_us(plain);
        reference = us < reference ? us : reference;
    }
    if (memcmp(out, expected, size) != 0) {
        printf("%s differs\n", name);
        return 1;
    }
    printf("%s %.1f %.1f\n", name, best, reference);
    return 0;
}

CUPVA_VPU_MAIN()
{
    for (int i = 0; i < PITCH * ROWS; i++)
        in[i] = (uint16_t)(i * 40503u >> 4 & 0xfff);
    for (int i = 0; i < TILE_W * TILE_H; i++) {
        a8[i] = (uint8_t)(i * 31);
        b8[i] = (uint8_t)(i * 17 >> 3);
    }
    for (int i = 0; i < 25; i++)
        coefficients[i] = (int16_t)(i % 7 - 2);
    auto filter = [] { plain_filter(in, coefficients, expected); };
    int wrong = compare("dvmaddh", filter_multiply_add, filter, sizeof out);
    wrong += compare("operators", filter_operators, filter, sizeof out);
    wrong += compare("box", box, [] { plain_box(in, expected); }, sizeof out);
    wrong += compare("neighbours", neighbours, [] { plain_neighbours(in, LIMIT, expected); }, sizeof out);
    wrong += compare("difference", difference,
                     [] { plain_difference(a8, b8, (uint8_t *)expected); }, sizeof a8);
    return wrong;
}
