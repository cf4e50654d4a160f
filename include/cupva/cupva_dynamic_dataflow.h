/* The name of earlier releases for what cupva_device.h declares. */
#ifndef CUPVA_DYNAMIC_DATAFLOW_H
#define CUPVA_DYNAMIC_DATAFLOW_H

#include <cupva_device.h>

#endif
