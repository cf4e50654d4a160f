/* Position in the print buffer, apart from printf so that it costs nothing when unused. */
#include "rt.h"

uint64_t rt_log_total;
uint32_t rt_log_capacity;
