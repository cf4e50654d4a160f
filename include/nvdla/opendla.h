/*
 * opendla.h - the registers of NVDLA: of nv_full, or with DLA_2_CONFIG defined of nv_small,
 * nv_large and the other configurations of the second line. They differ in where the blocks lie.
 */
#ifndef __OPENDLA_H_
#define __OPENDLA_H_

#ifdef DLA_2_CONFIG
#include "opendla_small.h"
#else
#include "opendla_initial.h"
#endif

#endif
