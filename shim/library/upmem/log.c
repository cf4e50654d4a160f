/* The part of the DPU log API that takes a variable number of arguments. */
#include <stdarg.h>
#include <stdio.h>

#include "boot.h"
#include "dpu_log_internals.h"

SIM_EXPORT dpu_error_t dpulog_c_print_fct(void *arg, const char *fmt, ...)
{
    va_list values;
    va_start(values, fmt);
    vfprintf((FILE *)arg, fmt, values);
    va_end(values);
    return DPU_OK;
}
