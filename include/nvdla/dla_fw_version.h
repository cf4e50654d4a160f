/* dla_fw_version.h - the firmware generation whose descriptors these headers describe. */
#ifndef _DLA_FW_VERSION_H_
#define _DLA_FW_VERSION_H_

#include <stdint.h>

#define FIRMWARE_VERSION_MAJOR 0x00
#define FIRMWARE_VERSION_MINOR 0x0c
#define FIRMWARE_VERSION_SUBMINOR 0x05

static inline uint32_t dla_version(void)
{
    return FIRMWARE_VERSION_MAJOR << 16 | FIRMWARE_VERSION_MINOR << 8 | FIRMWARE_VERSION_SUBMINOR;
}

#endif
