/* The extension cudla_sim.abi._cudla_sim: cffi's functions and what connects them. */
#ifndef CUDLA_SIM_EXTENSION_H
#define CUDLA_SIM_EXTENSION_H

#include "generated/bridge.h"

extern const struct sim_bridge sim_bridge_here; /* what Python defines */
extern const struct sim_host *sim_host_there;   /* what libcudla_sim.so defines */

/* 0 where libcudla_sim.so is of another build */
int sim_bridge_connected(void);

#endif
