/* What libcu++ has in every standard, and what it has beyond the standard, in a kernel. */
#include <cstdio>
#include <cuda/cmath>
#include <cuda/functional>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/cstdint>
#include <cuda/std/memory>
#include <cuda/std/span>
#include <cuda/std/version>

namespace bits = cuda::std;

static_assert(bits::popcount(0xf0u) == 4 && bits::bit_ceil(5u) == 8, "at compile time");
static_assert(cuda::ceil_div(7, 2) == 4, "at compile time");

template <class T> __device__ void tell(long long *&to, T of)
{
    const long long all[] = {bits::popcount(of),
                             bits::countl_zero(of),
                             bits::countr_zero(of),
                             bits::countl_one(of),
                             bits::countr_one(of),
                             static_cast<long long>(bits::bit_width(of)),
                             bits::has_single_bit(of),
                             static_cast<long long>(bits::bit_floor(of)),
                             static_cast<long long>(bits::rotl(of, 3)),
                             static_cast<long long>(bits::rotr(of, 5)),
                             static_cast<long long>(bits::rotl(of, -9))};
    for (long long one : all)
        *to++ = one;
}

__global__ void numbers(bits::span<const unsigned> in, long long *to)
{
    for (unsigned value : in) {
        tell(to, value);
        tell(to, static_cast<bits::uint8_t>(value));
        tell(to, static_cast<bits::uint64_t>(value) << 17);
    }
}

__global__ void rest(bits::span<int> all, long long *to)
{
    *to++ = bits::bit_cast<int>(1.5f);
    *to++ = all.size_bytes() * 100 + all.last(2).front() * 10 + all.subspan(1)[1];
    *to++ = cuda::round_up(13u, 4) * 10000 + cuda::round_down(13, 4) * 100 + cuda::ilog2(1000) * 10 + cuda::ilog10(999);
    auto twice = cuda::proclaim_return_type<float>([](int of) { return 2.0f * of; });
    *to++ = static_cast<long long>(twice(4) / 3 * 1000);
    *to++ = cuda::maximum<>()(3, 7) * 10 + cuda::minimum<int>()(3, 7);
}

int main()
{
    static int some[] = {4, 5, 6, 7};
    long long *to;
    unsigned *in;
    const unsigned values[] = {0, 1, 0x80000000u, 0xffffffffu, 0x00f0a050u, 77};
    cudaMallocManaged(&to, 1000 * sizeof *to);
    cudaMallocManaged(&in, sizeof values);
    for (int i = 0; i < 6; i++)
        in[i] = values[i];
    numbers<<<1, 1>>>({in, 6}, to);
    rest<<<1, 1>>>(some, to + 6 * 33);
    if (cudaDeviceSynchronize() != cudaSuccess)
        return 1;
    for (int i = 0; i < 6 * 33 + 5; i++)
        printf("%lld\n", to[i]);
    return 0;
}
