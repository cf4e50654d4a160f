/* What both sides of the pivot sample know. */
#ifndef PIVOT_H
#define PIVOT_H

#define ELEMENTS_PER_DPU 4096
#define PIVOT 500000
#define NB_BLOCKS 2 /* left and right of the pivot */

#endif
