/* What the files of this folder share; what crosses into Python stands in internal.h. */
#ifndef CUDLA_SIM_NVDLA_SHIM_H
#define CUDLA_SIM_NVDLA_SHIM_H

#include "internal.h"

/* keeps an explanation for simExplain */
#ifdef __cplusplus
extern "C"
#endif
void sim_nvdla_explain(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
