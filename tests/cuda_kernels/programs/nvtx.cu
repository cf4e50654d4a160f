// NVTX's C++ as its documentation has it: nothing is printed for it.
#include <cstdio>
#include <utility>

#include <nvtx3/nvtx3.hpp>

struct own {
    static constexpr char const *name{"own"};
};
struct greeting {
    static constexpr char const *message{"hello"};
};
struct loads {
    static constexpr char const *name{"loads"};
    static constexpr nvtx3::category::id_type id{3};
};

static int once(bool wanted)
{
    NVTX3_FUNC_RANGE();
    nvtx3::scoped_range range{"once"};
    nvtx3::scoped_range_in<own> other{nvtx3::event_attributes{
        "a text", nvtx3::rgb{127, 255, 0}, nvtx3::payload{42}, nvtx3::named_category_in<own>::get<loads>()}};
    nvtx3::mark_in<own>(nvtx3::registered_string_in<own>::get<greeting>(), nvtx3::color{nvtx3::argb{1, 2, 3, 4}});
    auto handle = nvtx3::start_range_in<own>("started");
    nvtx3::end_range_in<own>(handle);
    nvtx3::unique_range first{"first"};
    nvtx3::unique_range second = std::move(first);
    nvtx3::event_attributes attributes{std::string("made")};
    nvtxDomainRangePushEx(nvtx3::domain::get<own>(), attributes.get());
    NVTX3_FUNC_RANGE_IF_IN(own, wanted);
    return nvtx3::color(nvtx3::argb{1, 2, 3, 4}).get_value() == 0x01020304u && !handle;
}

__global__ void kernel() {}

int main()
{
    kernel<<<1, 1>>>();
    printf("%d %d\n", once(true), cudaDeviceSynchronize());
}
