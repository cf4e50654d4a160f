/* What both sides of the block order sample know. */
#ifndef BLOCK_ORDER_H
#define BLOCK_ORDER_H

#define NB_BLOCKS 512
#define BLOCK_ELEMENTS 16 /* 64 bytes: one cache line of the host */

#endif
