/* SPDX-License-Identifier: Apache-2.0
 *
 * cudlaExternalEtbl.hpp - translation of layer statistics into comma-separated text.
 *
 * Despite its suffix this header is plain C as well as C++.
 */
#ifndef __CUDLA_EXTERNAL_ETBL_HPP__
#define __CUDLA_EXTERNAL_ETBL_HPP__

#include "cudla.h"

#if defined(__cplusplus)
extern "C" {
#endif

/* What a translation answers: first ask for the length, then for the text. */
typedef enum cudlaTranslateAttributeType {
    CUDLA_GET_CSV_LENGTH = 0,
    CUDLA_GET_CSV_STATS = 1
} cudlaTranslateAttributeType;

typedef union cudlaTranslateCsvAttribute_t {
    uint64_t csvStreamLength; /* bytes, the closing NUL included */
    void *csvStreamStats;     /* memory of the caller, that many bytes */
} cudlaTranslateCsvAttribute;

/* The tag's odd spelling is the vendor's, and programs may name it.
 *
 * Both entries turn statistics buffer number `idx`, a CPU copy of which is `input`, into text: a head
 * line `layer_name,start_ms,end_ms` and one line a layer. `dlaFreqMHz` converts ticks to time. The
 * first entry needs exactly one module on the device, the second names the module.
 * cudlaSuccess; cudlaErrorInvalidParam for NULL or frequency 0; cudlaErrorUmd when the buffer holds
 * no statistics; cudlaErrorInvalidModule. */
typedef struct cudlaExernalEtbl_t {
    cudlaStatus (*etiTranslateStats)(cudlaDevHandle const devHandle, unsigned char *input,
                                     uint32_t const dlaFreqMHz, uint32_t idx,
                                     cudlaTranslateAttributeType const csvAttrType,
                                     cudlaTranslateCsvAttribute *const csvAttribute);
    cudlaStatus (*etiTranslateStatsForMultiModule)(cudlaDevHandle const devHandle,
                                                   cudlaModule const hModule, unsigned char *input,
                                                   uint32_t const dlaFreqMHz, uint32_t idx,
                                                   cudlaTranslateAttributeType const csvAttrType,
                                                   cudlaTranslateCsvAttribute *const csvAttribute);
} cudlaExternalEtbl;

/* Hands out the table above, valid for the life of the process; `flags` is 0.
 * cudlaSuccess, cudlaErrorInvalidParam. */
cudlaStatus cudlaGetExternalExportTable(const cudlaExternalEtbl **const exportTable,
                                        uint32_t const flags);

#if defined(__cplusplus)
}
#endif

#endif /* __CUDLA_EXTERNAL_ETBL_HPP__ */
