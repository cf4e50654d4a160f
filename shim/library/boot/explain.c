/* simExplain works even when Python could not start: that is when it is needed most. */
#include <string.h>

#include "boot.h"
#include "cudla_sim.h"
#include "generated/hand_written.h"

SIM_EXPORT size_t simExplain(char *buffer, size_t size)
{
    if (sim_enter() == 0) {
        return impl_simExplain(buffer, size);
    }
    const char *why = sim_boot_problem();
    size_t length = strlen(why);
    if (buffer != NULL && size > 0) {
        size_t kept = length < size ? length : size - 1;
        memcpy(buffer, why, kept);
        buffer[kept] = '\0';
    }
    return length;
}
