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

#endif
