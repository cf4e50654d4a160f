/* Sizes and fields that the test fills in; it reads the enumerators from here. */
#define SAMPLER_TABLE_BYTES 4096
#define SAMPLER_INDEX_BYTES 1024
#define SAMPLER_OUT_BYTES 8192

enum {
    MODE,
    TYPE,
    WIDTH,
    HEIGHT,
    PITCH,
    ADVANCE,
    OUTSIDE,
    CONSTANT,
    INDEX_TYPE,
    COLUMNS,
    ROWS,
    INDEX_PITCH,
    BITS,
    FRACTION,
    OFFSET_X,
    OFFSET_Y,
    ORDER,
    TILES,
    OUT_PITCH,
    OUT_MODE,
    NARROWER,
    RULE,
    FIELDS,
};

enum { ALL_RIGHT, WITHOUT_LIST, START_TWICE, WITHOUT_WAIT };
