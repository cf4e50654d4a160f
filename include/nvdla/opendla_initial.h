/*
 * opendla_initial.h - the registers of nv_full.
 *
 * BLOCK_REGISTER_0 is the byte address of a register, BLOCK_REGISTER_0_FIELD_SHIFT and
 * BLOCK_REGISTER_0_FIELD_FIELD are the position and the mask (in place) of a field, and
 * BLOCK_REGISTER_0_FIELD_VALUE are the named values of a field. Written by
 * codegen/registers.py from the register tables of the model.
 */
#ifndef __OPENDLA_INITIAL_H_
#define __OPENDLA_INITIAL_H_

#define OPENDLA_GLB 0x0
#define OPENDLA_GEC 0x1000
#define OPENDLA_MCIF 0x2000
#define OPENDLA_CVIF 0x3000
#define OPENDLA_BDMA 0x4000
#define OPENDLA_CDMA 0x5000
#define OPENDLA_CSC 0x6000
#define OPENDLA_CMAC_A 0x7000
#define OPENDLA_CMAC_B 0x8000
#define OPENDLA_CACC 0x9000
#define OPENDLA_SDP_RDMA 0xa000
#define OPENDLA_SDP 0xb000
#define OPENDLA_PDP_RDMA 0xc000
#define OPENDLA_PDP 0xd000
#define OPENDLA_CDP_RDMA 0xe000
#define OPENDLA_CDP 0xf000
#define OPENDLA_RBK 0x10000

#include "opendla_blocks.h"

#endif
