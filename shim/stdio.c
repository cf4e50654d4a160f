/* Python's text goes through the host's own stdio, so that piped output keeps its order. */
#include <stdio.h>
#include <stddef.h>

void sim_write(int to_stderr, const char *text, size_t size);

void sim_write(int to_stderr, const char *text, size_t size)
{
    FILE *stream = to_stderr ? stderr : stdout;
    fwrite(text, 1, size, stream);
}
