/* One kernel that behaves as the parameter `mode` says. */
#include <cupva_device.h>
#include <cupva_device_debug.h>

#include <stdlib.h>

#include "modes.h"

VMEM(A, int32_t, mode);
VMEM(A, int32_t, answer);
VMEM(A, uint8_t, in, 256);
VMEM(A, uint8_t, guarded, 100);
VMEM(B, uint8_t, out, 256);
VMEM(B, int32_t, grid, 3, 4);
VMEM(C, uint32_t, source);
VMEM(C, uint32_t, target);
VMEM(C, uint32_t, spare);
VMEM_NOEXPORT(C, int16_t, table, 4) = {1, -2, 3, -4};
VMEM_NOEXPORT(C, int32_t, initialised) = 41;
VMEM_POINTER(C, pointer);
struct pair {
    int32_t first, second;
};
VMEM_NOEXPORT(B, struct pair, inner);
CUPVA_EXPORT(inner.second, second_of_pair);

static int32_t runs = 10; /* not in VMEM, but as short-lived */

static __attribute__((noinline)) int32_t deeper(volatile int32_t *at)
{
    volatile int32_t room[256];
    room[0] = *at + 1;
    return deeper(room) + room[0];
}

static __attribute__((noinline)) void overrun(volatile uint8_t *bytes, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        bytes[i] = 1;
}

static __attribute__((noinline)) int32_t root(volatile float *x)
{
    volatile float difference = *x - *x;
    return difference != difference;
}

/* Comparisons, minimum and conversions of values that no integer has, a NaN that only comes and
 * goes; 4 when all of them went on. */
static __attribute__((noinline)) int32_t without_nan(void)
{
    uint32_t const pattern = 0x7FC00000u;
    volatile float huge = 1e30f, one = 1.0f, odd;
    __builtin_memcpy((void *)&odd, &pattern, sizeof odd);
    volatile float sum = odd + one;
    volatile int32_t far = (int32_t)huge;
    volatile int64_t farther = (int64_t)huge;
    volatile float least = sum < one ? sum : one;
    float lanes[8];
    int32_t numbers[8];
    for (int i = 0; i < 8; i++)
        lanes[i] = huge + (float)i;
    for (int i = 0; i < 8; i++)
        numbers[i] = (int32_t)lanes[i];
    volatile int32_t last = numbers[7];
    return (far == INT32_MIN) + (farther == INT64_MIN) + (least == one) + (last == INT32_MIN);
}

static __attribute__((noinline)) int32_t divide(int32_t a, volatile int32_t *b)
{
    return a / *b;
}

static void copy_all(int32_t surplus)
{
    for (int32_t i = 0; i < 4; i++) {
        cupvaDataFlowTrig(source);
        cupvaDataFlowSync(source);
        for (int32_t k = 0; k < 64; k++)
            out[i * 64 + k] = in[k] + 1;
        cupvaDataFlowTrig(target);
        cupvaDataFlowSync(target);
    }
    for (int32_t i = 0; i < surplus; i++)
        cupvaDataFlowTrig(source);
}

CUPVA_VPU_MAIN()
{
    volatile int32_t zero = 0;
    volatile float infinite = 0;
    switch (mode) {
    case COPY:
        copy_all(0);
        break;
    case COPY_WITH_SURPLUS:
        cupvaDataFlowSync(target);
        copy_all(1);
        break;
    case COPY_WITH_TWO_TOO_MANY:
        copy_all(2);
        break;
    case RETURN:
        return answer;
    case STATE:
        runs++;
        initialised++;
        guarded[99]++;
        inner.second += table[3];
        grid[2][3] = runs;
        return runs * 1000 + initialised * 10 + guarded[99];
    case READ_NULL:
        return *(volatile int32_t *)(uintptr_t)zero;
    case READ_WILD:
        return *(volatile int32_t *)0x10030000;
    case DIVIDE:
        return divide(5, &zero);
    case ILLEGAL:
        __builtin_trap();
    case ASSERT:
        CUPVA_VPU_ASSERT(zero == 1);
        break;
    case OVERRUN:
        overrun(guarded, 101);
        break;
    case HANG:
        while (zero == 0) {
        }
        break;
    case SYNC_FIRST:
        cupvaDataFlowSync(source);
        break;
    case LEAVE_EARLY:
        cupvaDataFlowTrig(source);
        break;
    case NO_HANDLER:
        cupvaDataFlowTrig(spare);
        break;
    case RECURSE:
        return deeper(&zero);
    case EXIT:
        exit(3);
    case PRINT:
        printf("vpu %u says %d\n", cupvaGetVpuId(), answer);
        break;
    case NAN_IS_AN_ERROR:
        cupvaFloatingPointNANErrorEnabled(true);
        infinite = __builtin_inff();
        return root(&infinite);
    case NAN_IS_A_VALUE:
        cupvaFloatingPointNANErrorEnabled(true);
        cupvaFloatingPointNANErrorEnabled(false);
        infinite = __builtin_inff();
        return root(&infinite);
    case NAN_AT_FIRST:
        infinite = __builtin_inff();
        return root(&infinite);
    case INVALID_WITHOUT_NAN:
        return without_nan();
    case RINGS: {
        for (int32_t i = 0; i < 256; i++)
            out[i] = (uint8_t)i;
        cupvaCircularBufferMemcpy(out, 128);
        AgenCFG kept = extract_agen_cfg(init((vuchar *)out));
        cupvaAdvanceAgenCfg(&kept, 126);
        agen walk = init_agen_from_cfg(kept);
        vcharx around = vuchar_load(walk);
        return (extract(around, 1) * 1000 + extract(around, 3)) * 1000 + out[192];
    }
    case ADDRESSES:
        grid[0][0] = (int32_t)cupvaGetVmemAddress(out);
        grid[0][1] = (int32_t)((uint8_t *)out - (uint8_t *)cupvaGetVmemBase());
        grid[0][2] = (int32_t)cupvaGetL2Size();
        cupvaGetL2ExtMemPointer(&pointer, 0x40);
        grid[0][3] = pointer.offset + (int32_t)(pointer.base >> CUPVA_IOVA_SPACE_SHIFT);
        break;
    }
}
