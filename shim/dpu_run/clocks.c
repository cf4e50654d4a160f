/* DPU frequency in Hz, written by the host when it loads a program. */
#include <perfcounter.h>

__host const volatile uint32_t CLOCKS_PER_SEC = 350000000;
