#include <defs.h>
#include <stdint.h>

__host uint64_t given, squared;

int main(void)
{
    squared = given * given;
    return 0;
}
