/* The table that cudlaGetExternalExportTable hands out; its entries are ordinary gated calls. */
#include "boot.h"
#include "internal.h"

static cudlaStatus translate(cudlaDevHandle const devHandle, unsigned char *input,
                             uint32_t const dlaFreqMHz, uint32_t idx,
                             cudlaTranslateAttributeType const csvAttrType,
                             cudlaTranslateCsvAttribute *const csvAttribute)
{
    if (sim_enter() != 0) {
        return cudlaErrorUnknown;
    }
    return impl_etiTranslateStats(devHandle, input, dlaFreqMHz, idx, csvAttrType, csvAttribute);
}

static cudlaStatus translate_for_module(cudlaDevHandle const devHandle, cudlaModule const hModule,
                                        unsigned char *input, uint32_t const dlaFreqMHz,
                                        uint32_t idx, cudlaTranslateAttributeType const csvAttrType,
                                        cudlaTranslateCsvAttribute *const csvAttribute)
{
    if (sim_enter() != 0) {
        return cudlaErrorUnknown;
    }
    return impl_etiTranslateStatsForMultiModule(devHandle, hModule, input, dlaFreqMHz, idx,
                                                csvAttrType, csvAttribute);
}

const cudlaExternalEtbl *sim_external_table(void)
{
    static const cudlaExternalEtbl table = {translate, translate_for_module};
    return &table;
}
