/* What both sides of the checksum sample know. */
#ifndef CHECKSUM_H
#define CHECKSUM_H

#define BUFFER_BYTES (64 << 10)

#endif
