/* dla_err.h - error numbers of the NVDLA firmware; functions return them negated. */
#ifndef __FIRMWARE_DLA_ERR_H_
#define __FIRMWARE_DLA_ERR_H_

#define ERR(code) (-DLA_ERR_##code)

#define DLA_ERR_NONE 0
#define DLA_ERR_INVALID_METHOD 1
#define DLA_ERR_INVALID_TASK 2
#define DLA_ERR_INVALID_INPUT 3
#define DLA_ERR_INVALID_FALC_DMA 4
#define DLA_ERR_INVALID_QUEUE 5
#define DLA_ERR_INVALID_PREACTION 6
#define DLA_ERR_INVALID_POSTACTION 7
#define DLA_ERR_NO_MEM 8
#define DLA_ERR_INVALID_DESC_VER 9
#define DLA_ERR_INVALID_ENGINE_ID 10
#define DLA_ERR_INVALID_REGION 11
#define DLA_ERR_PROCESSOR_BUSY 12
#define DLA_ERR_RETRY 13
#define DLA_ERR_TASK_STATUS_MISMATCH 14

#endif
