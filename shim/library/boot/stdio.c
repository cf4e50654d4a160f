/* Python's text goes through the host's own stdio, so that piped output keeps its order. */
#include <stdio.h>

#include "internal.h"

void sim_write(int to_stderr, const char *text, size_t size)
{
    FILE *stream = to_stderr ? stderr : stdout;
    fwrite(text, 1, size, stream);
}

size_t sim_stream_write(FILE *stream, const char *text, size_t size)
{
    return fwrite(text, 1, size, stream);
}
