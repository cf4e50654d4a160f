/* Tasks of the sampler as parameters describe them. */
#include <cupva_device.h>

#include "sampler.h"

VMEM(A, uint8_t, table, SAMPLER_TABLE_BYTES);
VMEM(B, uint8_t, indices, SAMPLER_INDEX_BYTES);
VMEM(C, uint8_t, out, SAMPLER_OUT_BYTES);
VMEM(C, uint8_t, second, SAMPLER_OUT_BYTES);
VMEM(B, int32_t, what, FIELDS);
VMEM(A, CupvaSampler, task);
VMEM(A, CupvaSampler, again);

static void setup(CupvaSampler *sampler, void *to)
{
    CupvaSamplerOutput output = {to, (uint16_t)what[OUT_PITCH], (TranspositionMode)what[OUT_MODE]};
    CupvaSamplerInput2D input = {};
    input.data = table;
    input.type = (CupvaSamplerInputType)what[TYPE];
    input.width = what[WIDTH];
    input.height = what[HEIGHT];
    input.linePitch = what[PITCH];
    input.inputAdv = what[ADVANCE];
    input.outOfRangeMode = (CupvaSamplerTaskOutOfRangeHandlingMode)what[OUTSIDE];
    input.outOfRangeVal = what[CONSTANT];
    if (what[MODE] == SAMPLER_MODE_TILE) {
        CupvaSamplerTiles tiles = {};
        tiles.data = indices;
        tiles.width = what[COLUMNS];
        tiles.height = what[ROWS];
        tiles.count = what[TILES];
        tiles.fractionalBits = what[BITS];
        tiles.offsetX = what[OFFSET_X];
        tiles.offsetY = what[OFFSET_Y];
        tiles.tileTraversalMode = (CupvaSamplerTileTraversalMode)what[ORDER];
        cupvaSamplerSetup(sampler, &input, &tiles, &output);
        return;
    }
    CupvaSamplerIndices2D pairs = {};
    pairs.data = indices;
    pairs.type = (CupvaSamplerIndexType)what[INDEX_TYPE];
    pairs.width = what[COLUMNS];
    pairs.height = what[ROWS];
    pairs.linePitch = what[INDEX_PITCH];
    pairs.fractionalBits = what[BITS];
    pairs.fractionalHandling = (CupvaSamplerIndexRoundingMode)what[FRACTION];
    pairs.offsetX = what[OFFSET_X];
    pairs.offsetY = what[OFFSET_Y];
    pairs.interleaving = (CupvaSamplerIndexInterleavingMode)what[ORDER];
    if (what[MODE] == SAMPLER_MODE_2D) {
        cupvaSamplerSetup(sampler, &input, &pairs, &output);
        return;
    }
    CupvaSamplerInput1D line = {input.data, input.type, input.width, input.inputAdv, input.outOfRangeMode,
                                input.outOfRangeVal};
    CupvaSamplerIndices1D single = {pairs.data, pairs.type, pairs.width, pairs.height, pairs.linePitch,
                                    pairs.fractionalBits, pairs.fractionalHandling, pairs.offsetX};
    cupvaSamplerSetup(sampler, &line, &single, &output);
}

CUPVA_VPU_MAIN()
{
    if (what[RULE] == WITHOUT_LIST) {
        cupvaSamplerWait(); /* nothing to wait for */
        return 0;
    }
    setup(&task, out);
    setup(&again, out);
    cupvaSamplerUpdateAddrs(&again, NULL, NULL, second);
    if (what[NARROWER])
        cupvaSamplerUpdateInputAttributes(&again, what[NARROWER], what[HEIGHT],
                                          what[PITCH] ? what[PITCH] : what[WIDTH]);
    cupvaSamplerLink(&task, &again);
    cupvaSamplerStart(&task);
    if (what[RULE] == START_TWICE)
        cupvaSamplerStart(&again);
    if (what[RULE] != WITHOUT_WAIT)
        cupvaSamplerWait();
    return 0;
}
