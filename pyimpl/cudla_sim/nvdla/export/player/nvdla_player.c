/* nvdla_player.c - see nvdla_player.h. */
#include "nvdla_player.h"

/* CRC-32 of IEEE 802.3, as zlib's. */
static uint32_t crc32_of(const uint8_t *data, uint32_t size)
{
    uint32_t crc = 0xffffffffu;
    for (uint32_t i = 0; i < size; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static uint8_t *memory_at(const struct nvdla_board *board, uint32_t address, uint32_t size)
{
    return board->memory ? board->memory(board->board, address, size)
                         : (uint8_t *)(uintptr_t)address;
}

/* Reads a register until it is value under mask; 0 when that never happens. */
static int poll(const struct nvdla_board *board, uint32_t address, uint32_t mask, uint32_t value,
                uint32_t *found)
{
    for (uint32_t read = 0; !board->polls || read < board->polls; read++) {
        *found = board->reg_read(board->board, address);
        if ((*found & mask) == value) {
            return 1;
        }
        if (board->wait) {
            board->wait(board->board);
        }
    }
    return 0;
}

/* Plays one step; NULL, or what went wrong. */
static const char *play(const struct nvdla_trace *trace, const struct nvdla_board *board,
                        const struct nvdla_step *step, struct nvdla_result *result)
{
    switch (step->kind) {
    case NVDLA_WRITE:
        board->reg_write(board->board, step->address, step->value);
        return NULL;
    case NVDLA_POLL:
        if (!poll(board, step->address, step->extra, step->value, &result->found)) {
            return "a register never became what it must be";
        }
        return NULL;
    case NVDLA_AWAIT:
        if (!poll(board, trace->status, step->value, step->value, &result->found)) {
            return "an interrupt never came";
        }
        board->reg_write(board->board, trace->status, step->value);
        return NULL;
    case NVDLA_CHECK:
        result->found = crc32_of(memory_at(board, step->address, step->extra), step->extra);
        if (result->found != step->value) {
            return "memory is not what it must be";
        }
        result->checks++;
        return NULL;
    case NVDLA_LOAD: {
        uint8_t *target = memory_at(board, step->address, step->extra);
        for (uint32_t i = 0; i < step->extra; i++) {
            target[i] = trace->data[step->value + i];
        }
        return NULL;
    }
    default:
        return "the table has a step of another version";
    }
}

struct nvdla_result nvdla_play(const struct nvdla_trace *trace, const struct nvdla_board *board)
{
    struct nvdla_result result = {1, "", 0, 0, 0, 0};
    for (uint32_t i = 0; i < trace->count; i++) {
        const char *why = play(trace, board, &trace->steps[i], &result);
        if (why) {
            result.ok = 0;
            result.why = why;
            result.step = i;
            return result;
        }
        result.steps++;
    }
    return result;
}
