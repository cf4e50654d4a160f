// Half precision of cuda_fp16.h against an exact reference in long double.
// Prints the number of wrong answers of each kind; argument: a seed.
#include <cuda_fp16.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>

static long double exact(unsigned bits) {
    unsigned exponent = (bits >> 10) & 31, fraction = bits & 1023;
    long double magnitude = exponent == 0 ? std::ldexp((long double)fraction, -24)
                                          : std::ldexp((long double)(1024 + fraction), (int)exponent - 25);
    return bits & 0x8000 ? -magnitude : magnitude;
}

// Nearest half, ties to even, by looking at both neighbours.
static unsigned nearest(long double value) {
    unsigned sign = std::signbit(value) ? 0x8000 : 0;
    long double magnitude = std::fabs(value);
    if (magnitude >= 65520.0L) {
        return sign | 0x7c00;
    }
    unsigned low = 0, high = 0x7bff;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        (exact(middle) <= magnitude ? low : high) = middle;
    }
    if (exact(high) <= magnitude) {
        low = high;
    }
    long double down = magnitude - exact(low);
    long double up = (low == 0x7bff ? 65536.0L : exact(low + 1)) - magnitude;
    return sign | (down < up || (down == up && low % 2 == 0) ? low : low + 1);
}

int main(int argc, char **argv) {
    long wrong_value = 0, wrong_round_trip = 0, wrong_float = 0, wrong_double = 0, wrong_sum = 0;
    for (unsigned bits = 0; bits < 0x10000; ++bits) {
        half h = __ushort_as_half((unsigned short)bits);
        float f = __half2float(h);
        unsigned exponent = (bits >> 10) & 31, fraction = bits & 1023;
        if (exponent == 31) {
            bool good = fraction ? std::isnan(f) : std::isinf(f) && std::signbit(f) == (bits >> 15 != 0);
            wrong_value += !good;
            wrong_round_trip += __half_as_ushort(__float2half(f)) != (fraction ? 0x7fffu : bits);
        } else {
            wrong_value += (long double)f != exact(bits) || std::signbit(f) != (bits >> 15 != 0);
            wrong_round_trip += __half_as_ushort(__float2half_rn(f)) != bits;
        }
    }
    std::mt19937_64 random(argc > 1 ? std::strtoull(argv[1], nullptr, 0) : 1);
    for (int i = 0; i < 400000; ++i) {
        uint32_t word = (uint32_t)random();
        if (i % 2) { // around the range of halves, and often exactly half way between two
            word = (word & 0x80000000u) | ((0x66u + word % 0x2c) << 23) | ((word >> 3) & 0x7fe000u) |
                   (i % 4 == 1 ? 0x1000u : word & 0x1fffu);
        }
        float f;
        std::memcpy(&f, &word, sizeof f);
        if (!std::isnan(f)) {
            wrong_float += __half_as_ushort(__float2half(f)) != nearest(f);
        }
        double d = (double)f * (1.0 + std::ldexp(1.0, -40) * ((int)(random() % 3) - 1));
        if (!std::isnan(d)) {
            wrong_double += __half_as_ushort(__double2half(d)) != nearest(d);
        }
        half a = __ushort_as_half((unsigned short)random()), b = __ushort_as_half((unsigned short)random());
        float fa = __half2float(a), fb = __half2float(b);
        if (std::isfinite(fa) && std::isfinite(fb)) {
            unsigned sum = nearest((long double)fa + fb), product = nearest((long double)fa * fb);
            wrong_sum += __half_as_ushort(a + b) != sum && exact(sum & 0x7fff) != 0;
            wrong_sum += __half_as_ushort(a * b) != product;
            if (fb != 0) {
                unsigned quotient = __half_as_ushort(a / b), wanted = nearest((long double)fa / fb);
                wrong_sum += quotient != wanted;
            }
        }
    }
    bool compares = half(1.0f) < half(2.0f) && half(2) == half(2.0) && !(half(NAN) == half(NAN)) &&
                    half(NAN) != half(NAN) && -half(3.0f) == half(-3) && __hisnan(half(NAN));
    __half2 pair = __floats2half2_rn(1.5f, -2.5f);
    compares = compares && __low2float(pair) == 1.5f && __high2float(pair) == -2.5f;
    std::printf("value %ld round trip %ld float %ld double %ld arithmetic %ld compare %d\n", wrong_value,
                wrong_round_trip, wrong_float, wrong_double, wrong_sum, !compares);
    return 0;
}
