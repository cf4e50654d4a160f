/* Squares in two halves, then their sums. */
#ifndef TWO_VPUS_H
#define TWO_VPUS_H

#define TILE 256
#define TILES 16
#define HALF (TILE * TILES)

#endif
