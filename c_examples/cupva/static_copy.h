/* A picture of two columns of tiles. In VMEM each tile has one column more, which is padding. */
#ifndef STATIC_COPY_H
#define STATIC_COPY_H

#define TILE_WIDTH 48
#define TILE_HEIGHT 16
#define TILE_ROWS 6
#define PADDED_WIDTH (TILE_WIDTH + 1)
#define PADDED_TILE (PADDED_WIDTH * TILE_HEIGHT)

#define WIDTH (2 * TILE_WIDTH)
#define HEIGHT (TILE_ROWS * TILE_HEIGHT)
#define PADDED_PICTURE_WIDTH (2 * PADDED_WIDTH)

#endif
