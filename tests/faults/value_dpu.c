#include <defs.h>
#include <stdint.h>

__host uint32_t value;

int main(void)
{
    if (me() == 0)
        value += 1;
    return 0;
}
