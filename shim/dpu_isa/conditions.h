/* Whether an instruction's condition holds. What is constant of it folds away. */
#ifndef DPU_ISA_CONDITIONS_H
#define DPU_ISA_CONDITIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "generated/dpu_isa.h"
#include "operations.h"

/* Of a subtraction x - y - in. */
struct order {
    bool less, less_signed, overflow;
};

static inline struct order order_of(uint32_t x, uint32_t y, uint32_t in, uint32_t r)
{
    int64_t exact = (int64_t)(int32_t)x - (int32_t)y - (int64_t)in;
    return (struct order){(uint64_t)x < (uint64_t)y + in, exact < 0, exact != (int32_t)r};
}

/*
 * `a`: the first source; `r`: the result; `x` and `y`: what was added, or subtracted in this order, with
 * the carry or borrow `in`, and the sources of what is neither; `z`: 0 when the zero flag was set before.
 */
static inline bool holds(enum operand_class class, uint32_t condition, uint32_t a, uint32_t x, uint32_t y,
    uint32_t in, uint32_t r, uint32_t z)
{
    const struct order order = order_of(x, y, in, r);
    const bool carry = ((uint64_t)x + y + in) >> 32 != 0, equal = r == 0, still = r == 0 && z == 0;
    const bool overflow = class == DIFFERENCE ? order.overflow : (~(x ^ y) & (x ^ r)) >> 31;
    switch (condition) {
    case DPU_IF_TRUE: return true;
    case DPU_IF_Z: return equal;
    case DPU_IF_NZ: return !equal;
    case DPU_IF_XZ: return still;
    case DPU_IF_XNZ: return !still;
    case DPU_IF_PL: return (int32_t)r >= 0;
    case DPU_IF_MI: return (int32_t)r < 0;
    case DPU_IF_MAX: return r == 32;
    case DPU_IF_NMAX: return r != 32;
    case DPU_IF_SZ: return a == 0;
    case DPU_IF_SNZ: return a != 0;
    case DPU_IF_SPL: return (int32_t)a >= 0;
    case DPU_IF_SMI: return (int32_t)a < 0;
    case DPU_IF_OV: return overflow;
    case DPU_IF_NOV: return !overflow;
    case DPU_IF_C: return carry;
    case DPU_IF_NC: return !carry;
    case DPU_IF_LTU: return order.less;
    case DPU_IF_GEU: return !order.less;
    case DPU_IF_LTS: return order.less_signed;
    case DPU_IF_GES: return !order.less_signed;
    case DPU_IF_LES: return order.less_signed || equal;
    case DPU_IF_GTS: return !(order.less_signed || equal);
    case DPU_IF_LEU: return order.less || equal;
    case DPU_IF_GTU: return !(order.less || equal);
    case DPU_IF_XLES: return order.less_signed || still;
    case DPU_IF_XGTS: return !(order.less_signed || still);
    case DPU_IF_XLEU: return order.less || still;
    case DPU_IF_XGTU: return !(order.less || still);
    case DPU_IF_E: return !(r & 1);
    case DPU_IF_O: return r & 1;
    case DPU_IF_NSH32: return !(y & 32);
    case DPU_IF_SH32: return y & 32;
    case DPU_IF_SE: return !(a & 1);
    case DPU_IF_SO: return a & 1;
    case DPU_IF_SMALL: return !((x | y) & 0xff00);
    case DPU_IF_LARGE: return (x | y) & 0xff00;
    default: break;
    }
    if (condition < DPU_IF_NC5 || condition > DPU_IF_NC14)
        return false;
    const uint32_t low = 1u << (condition - DPU_IF_NC5 + 5);
    return (x & (low - 1)) + (y & (low - 1)) + in < low;
}

#endif
