// How programs read layer statistics: the export table, asked first for the length.
#include <stdio.h>
#include <stdlib.h>

#include "cudla.h"
#include "cudlaExternalEtbl.hpp"

int main() {
    cudlaDevHandle device = NULL;
    cudlaModule module = NULL;
    cudlaModuleAttribute attribute;
    cudlaStatus status = cudlaModuleGetAttributes(module, CUDLA_NUM_OUTPUT_TASK_STATISTICS, &attribute);
    cudlaModuleTensorDescriptor *descriptors = static_cast<cudlaModuleTensorDescriptor *>(
        calloc(attribute.numOutputTensors, sizeof(cudlaModuleTensorDescriptor)));
    attribute.outputTensorDesc = descriptors;
    status = cudlaModuleGetAttributes(module, CUDLA_OUTPUT_TASK_STATISTICS_DESCRIPTORS, &attribute);
    printf("%u descriptor is %lu\n", 0U, descriptors[0].size);

    const cudlaExternalEtbl *table = NULL;
    status = cudlaGetExternalExportTable(&table, 0);
    cudlaTranslateCsvAttribute text;
    void *raw = malloc(descriptors[0].size);
    status = table->etiTranslateStats(device, (unsigned char *)raw, 1000, 0, CUDLA_GET_CSV_LENGTH, &text);
    char *csv = (char *)malloc(text.csvStreamLength);
    text.csvStreamStats = (void *)csv;
    status = table->etiTranslateStats(device, (unsigned char *)raw, 1000, 0, CUDLA_GET_CSV_STATS, &text);
    status = table->etiTranslateStatsForMultiModule(device, module, (unsigned char *)raw, 1000, 0,
                                                    CUDLA_GET_CSV_STATS, &text);
    printf("%s\n", csv);
    return status;
}
