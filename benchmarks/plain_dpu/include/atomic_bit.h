#ifndef PLAIN_ATOMIC_BIT_H
#define PLAIN_ATOMIC_BIT_H

#include <stdint.h>

#define ATOMIC_BIT_INIT(name) uint8_t atomic_bit_##name
#define ATOMIC_BIT_GET(name) atomic_bit_##name

#endif
