/* Programs that do little but synchronise; `way` says which. Tests and benchmarks. */
#include <stdint.h>
#include <defs.h>
#include <mram.h>
#include <barrier.h>
#include <handshake.h>
#include <mutex.h>
#include <mutex_pool.h>
#include <sem.h>
#include <vmutex.h>

enum { LOOP, HISTOGRAM, POOL, VIRTUAL, BARRIERS, SEMAPHORES, CHAIN, MIXED, NESTED };

__host uint32_t way, rounds;
__host uint32_t counts[256];
__host uint32_t sum, given;
__host uint32_t pooled[256], behind[64];
__mram_noinit uint32_t data[1 << 18];
__dma_aligned uint32_t blocks[NR_TASKLETS][256];

MUTEX_INIT(mutex);
MUTEX_POOL_INIT(pool, 16);
VMUTEX_INIT(virtual, 64, 8);
BARRIER_INIT(barrier, NR_TASKLETS);
SEMAPHORE_INIT(semaphore, 1);
SEMAPHORE_INIT(three, 3);
SEMAPHORE_INIT(pairs, 0);
BARRIER_INIT(half, (NR_TASKLETS + 1) / 2);

static void loop(void) {
    for (uint32_t i = 0; i < rounds; i++) {
        mutex_lock(mutex);
        sum++;
        mutex_unlock(mutex);
    }
}

/* PrIM's HST-L with one histogram. */
static void histogram(void) {
    for (uint32_t at = me() * 256; at < rounds * NR_TASKLETS; at += NR_TASKLETS * 256) {
        mram_read(data + at % (1 << 18), blocks[me()], 1024);
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t d = blocks[me()][i] * 256 >> 12;
            mutex_lock(mutex);
            counts[d] += 1;
            mutex_unlock(mutex);
        }
    }
}

static void in_pool(void) {
    for (uint32_t at = me() * 256; at < rounds * NR_TASKLETS; at += NR_TASKLETS * 256) {
        mram_read(data + at % (1 << 18), blocks[me()], 1024);
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t d = blocks[me()][i] * 256 >> 12;
            mutex_pool_lock(&pool, d);
            counts[d] += 1;
            mutex_pool_unlock(&pool, d);
        }
    }
}

static void virtually(void) {
    for (uint32_t at = me() * 256; at < rounds * NR_TASKLETS; at += NR_TASKLETS * 256) {
        mram_read(data + at % (1 << 18), blocks[me()], 1024);
        for (uint32_t i = 0; i < 256; i++) {
            uint32_t d = blocks[me()][i] * 256 >> 12;
            vmutex_lock(&virtual, d & 63);
            counts[d] += 1;
            vmutex_unlock(&virtual, d & 63);
        }
    }
}

static void at_barriers(void) {
    for (uint32_t i = 0; i < rounds; i++) {
        counts[me()] += i;
        barrier_wait(&barrier);
    }
}

static void with_semaphore(void) {
    for (uint32_t i = 0; i < rounds; i++) {
        sem_take(&semaphore);
        sum++;
        sem_give(&semaphore);
    }
}

static void chain(void) {
    for (uint32_t i = 0; i < rounds; i++) {
        if (me() != 0)
            handshake_wait_for(me() - 1);
        counts[me()] += me() ? counts[me() - 1] : i;
        if (me() < NR_TASKLETS - 1)
            handshake_notify();
    }
}

/* Everything, as the numbers fall. */
static void mixed(void) {
    uint32_t number = me() * 2654435761u + 1;
    for (uint32_t i = 0; i < rounds; i++) {
        number = number * 1664525u + 1013904223u;
        switch (number >> 28) {
        case 0:
            mram_read(data + (number >> 8) % 1024 * 256, blocks[me()], 8 + (number >> 20 & 127) * 8);
            break;
        case 1: case 2: case 3: case 4:
            mutex_lock(mutex);
            sum += number;
            mutex_unlock(mutex);
            break;
        case 5: case 6: case 7:
            mutex_pool_lock(&pool, number >> 16);
            pooled[number >> 16 & 255] ^= number;
            mutex_pool_unlock(&pool, number >> 16);
            break;
        case 8: case 9:
            vmutex_lock(&virtual, number >> 16 & 63);
            behind[number >> 16 & 63] ^= number;
            vmutex_unlock(&virtual, number >> 16 & 63);
            break;
        case 10:
            sem_take(&semaphore);
            given ^= number;
            sem_give(&semaphore);
            break;
        case 11: /* two at once, in one order */
            mutex_pool_lock(&pool, 3);
            mutex_lock(mutex);
            sum += 1;
            mutex_unlock(mutex);
            mutex_pool_unlock(&pool, 3);
            break;
        case 12:
            if (mutex_trylock(mutex)) {
                sum -= 1;
                mutex_unlock(mutex);
            }
            break;
        case 13: case 14:
            for (uint32_t k = 0; k < (number >> 16 & 63); k++)
                blocks[me()][k] += number * k;
            break;
        default:
            blocks[me()][5] = number / ((number >> 5 & 255) + 1);
        }
        if (i % 64 == 63)
            barrier_wait(&barrier);
    }
}

/* One thing is released while another is, or is still held. */
static void nested(void) {
    for (uint32_t i = 0; i < rounds; i++) {
        switch ((i + me()) % 4) {
        case 0:
            mutex_lock(mutex);
            sem_take(&three);
            sum += i;
            sem_give(&three);
            mutex_unlock(mutex);
            break;
        case 1:
            vmutex_lock(&virtual, 9);
            mutex_pool_lock(&pool, me());
            behind[9] += i;
            mutex_pool_unlock(&pool, me());
            vmutex_unlock(&virtual, 9);
            break;
        case 2:
            sem_give(&pairs);
            sem_give(&pairs);
            sem_take(&pairs);
            sem_take(&pairs);
            break;
        default:
            vmutex_lock(&virtual, 20);
            vmutex_lock(&virtual, 21);
            behind[20] ^= i;
            vmutex_unlock(&virtual, 21);
            vmutex_unlock(&virtual, 20);
        }
        if (i % 8 == 7 && me() % 2 == 0)
            barrier_wait(&half);
    }
}

int main(void) {
    switch (way) {
    case LOOP: loop(); break;
    case HISTOGRAM: histogram(); break;
    case POOL: in_pool(); break;
    case VIRTUAL: virtually(); break;
    case BARRIERS: at_barriers(); break;
    case SEMAPHORES: with_semaphore(); break;
    case CHAIN: chain(); break;
    case NESTED: nested(); break;
    default: mixed();
    }
    return 0;
}
