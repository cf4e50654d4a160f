/* Part of a window of PDP that lies inside the input. */
#ifndef CUDLA_SIM_POOL_SPAN_H
#define CUDLA_SIM_POOL_SPAN_H

enum { MAX_ATOM = 64 };

struct span {
    int first, last;
};

static inline struct span inside(int number, int stride, int kernel, int pad, int size)
{
    int start = number * stride - pad, stop = start + kernel;
    struct span span = {start < 0 ? 0 : start, stop > size ? size : stop};
    if (span.last < span.first)
        span.last = span.first;
    return span;
}

/* The windows that lie in it whole; none: both are 0. */
static inline struct span whole_windows(int windows, int stride, int kernel, int pad, int size)
{
    int first = (pad + stride - 1) / stride, room = size + pad - kernel;
    int last = room < 0 ? 0 : room / stride + 1;
    struct span span = {first, last < windows ? last : windows};
    if (span.first >= span.last)
        span.first = span.last = 0;
    return span;
}

#endif
