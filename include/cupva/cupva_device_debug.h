/* printf of a VPU kernel: it goes to the host program's standard output. */
#ifndef CUPVA_DEVICE_DEBUG_H
#define CUPVA_DEVICE_DEBUG_H

#include <stdio.h>

#endif
