/*
 * Dataflows: a handler holds a number, a trigger moves what one trigger moves, at once or as
 * delivery.c says; so a sync never has to wait, and one that would is an error that nothing can end.
 *
 * Two habits of kernels are no errors, because hardware has none either: one trigger more than the
 * dataflow has (the prefetch of the last turn of a loop), and one sync more than triggers on a
 * dataflow that leaves VMEM (the first turn of a loop, when nothing is under way).
 */
#include "flow.h"

#include <stdlib.h>
#include <string.h>

static struct flow *flow_of(uint32_t number, void *caller)
{
    if (number == 0 || number > rt_nr_flows)
        rt_stop(PVA_FAULT, PVA_CAUSE_HANDLER, number, 0, "", caller);
    return &rt_flows[number - 1];
}

static void write_handler(const struct pva_flow_request *request, uint32_t number)
{
    uint8_t *target = rt_memory.base[PVA_VMEM] + request->handler;
    if (request->kind == PVA_KIND_DATA || request->kind == PVA_KIND_CONFIG) {
        memcpy(target, &number, sizeof number);
        return;
    }
    cupvaFlowInfo info = request->info;
    info.flow = number;
    memcpy(target, &info, sizeof info);
}

int rt_flows_begin(const struct pva_flow_request *requests, uint32_t count)
{
    rt_nr_flows = count;
    memset(rt_flows, 0, count * sizeof rt_flows[0]);
    for (uint32_t i = 0; i < count; i++) {
        struct flow *flow = &rt_flows[i];
        flow->list = (const void *)(rt_control + requests[i].list_at);
        flow->count = requests[i].count;
        flow->kind = requests[i].kind;
        flow->info = &requests[i].info;
        flow->handler = requests[i].handler;
        flow->reads = flow->count == 0 || flow->list[0].dst.space == PVA_VMEM;
        if (flow->handler >= 0) {
            write_handler(&requests[i], i + 1);
        } else if (pva_dma_run(flow->list, flow->count, &flow->cursor, &rt_memory)
                   != PVA_DMA_MOVED) {
            rt_stop(PVA_FAULT, PVA_CAUSE_RANGE, i + 1, 0, "", 0);
        }
    }
    return 0;
}

/* What was triggered and has not moved does so at the end, as the task ends after its DMA. */
void rt_flows_drain(void)
{
    for (uint32_t i = 0; rt_late && i < rt_nr_flows; i++)
        rt_late_drain(&rt_flows[i], i + 1, 0, 0);
}

static uint32_t unsynced(const struct flow *flow)
{
    uint64_t asked = flow->cursor.triggers, done = flow->syncs - (uint32_t)flow->led;
    return flow->handler >= 0 && asked > done ? (uint32_t)(asked - done) : 0;
}

/* How far everything came; a dataflow that the kernel left in the middle. */
void rt_flows_end(void)
{
    uint32_t unfinished = 0;
    for (uint32_t i = 0; i < rt_nr_flows; i++) {
        struct flow *flow = &rt_flows[i];
        int untouched = flow->cursor.descriptor == 0 && flow->cursor.tile == 0;
        int ended = rt_flow_ended(flow, &flow->cursor);
        int finished = (ended || (rt_flow_repeats(flow) && untouched)) && !flow->held;
        rt_reply->flows[i].triggers = (uint32_t)flow->cursor.triggers;
        rt_reply->flows[i].syncs = flow->syncs;
        rt_reply->flows[i].finished = (uint32_t)finished;
        rt_reply->flows[i].unsynced = flow->kind == PVA_KIND_GATHER_SCATTER ? flow->gathers
                                                                            : unsynced(flow);
        if (!finished && unfinished == 0)
            unfinished = i + 1;
        free(flow->own);
        free(flow->staged);
        flow->own = flow->staged = 0;
        if (rt_late)
            rt_late_end(flow);
    }
    if (unfinished != 0 && rt_reply->status == PVA_DONE) {
        rt_reply->status = PVA_UNFINISHED;
        rt_reply->cause = PVA_CAUSE_UNFINISHED;
        rt_reply->flow = unfinished;
    }
}

/* 1 when a launch that ended well did what hardware may do otherwise. */
int rt_flows_remarks(void)
{
    for (uint32_t i = 0; i < rt_nr_flows; i++)
        if (rt_reply->flows[i].unsynced)
            return 1;
    return rt_reply->written_flow != 0;
}

void pva_rt_trigger(uint32_t number)
{
    void *caller = __builtin_return_address(0);
    struct flow *flow = flow_of(number, caller);
    int status;
    if (flow->kind == PVA_KIND_CONFIG)
        rt_config_apply(flow, number, caller);
    if (rt_late) {
        status = rt_late_trigger(flow, number, caller);
    } else {
        if (rt_flow_ended(flow, &flow->cursor) && rt_flow_repeats(flow))
            flow->cursor.descriptor = flow->cursor.tile = 0;
        status = pva_dma_trigger(flow->list, flow->count, &flow->cursor, &rt_memory);
    }
    if (status == PVA_DMA_OUT_OF_RANGE)
        rt_stop(PVA_FAULT, PVA_CAUSE_RANGE, number, 0, "", caller);
    if (status == PVA_DMA_ENDED && ++flow->surplus > 1)
        rt_stop(PVA_FAULT, PVA_CAUSE_TRIGGER, number, 0, "", caller);
}

/* Triggers that the kernel has given, whether their data has moved or not. */
static uint64_t asked(const struct flow *flow)
{
    return rt_late ? flow->ahead.triggers : flow->cursor.triggers;
}

void pva_rt_sync(uint32_t number)
{
    void *caller = __builtin_return_address(0);
    struct flow *flow = flow_of(number, caller);
    uint64_t given = asked(flow), allowed = given + (flow->reads ? 0 : 1);
    if (flow->syncs >= allowed)
        rt_stop(PVA_DMA_TIMEOUT, PVA_CAUSE_SYNC, number, 0, "", caller);
    flow->syncs++;
    if (given == 0)
        flow->led = 1;
    if (rt_late)
        rt_late_sync(flow, number, caller);
}

/*
 * Changes that a kernel makes to a dataflow between its runs. They wait in a copy until the kernel
 * flushes them, and last for this launch.
 */
static struct pva_descriptor *staged(uint32_t number, uint32_t index, void *caller)
{
    struct flow *flow = flow_of(number, caller);
    if (index >= flow->count)
        rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, number, 0, "update of a transfer that does not exist",
                caller);
    if (flow->staged == 0) {
        size_t size = flow->count * sizeof *flow->staged;
        flow->staged = malloc(size);
        if (flow->staged == 0)
            rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, number, 0, "no memory for updates of a dataflow",
                    caller);
        memcpy(flow->staged, flow->list, size);
    }
    return &flow->staged[index];
}

/* A pitch below 0 stays what it is. */
void pva_rt_stage_side(uint32_t number, uint32_t index, int destination, int space, uint64_t at,
                       int64_t pitch)
{
    void *caller = __builtin_return_address(0);
    struct pva_descriptor *d = staged(number, index, caller);
    struct pva_side *side = destination ? &d->dst : &d->src;
    if (space < 0 || space >= PVA_SPACES)
        rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, number, 0, "update with no memory type", caller);
    if (side->ring_size)
        side->ring += (int64_t)at - side->at;
    side->space = space;
    side->at = (int64_t)at;
    if (pitch >= 0)
        side->pitch = pitch;
}

void pva_rt_stage_tile(uint32_t number, uint32_t index, uint32_t tx, uint32_t ty)
{
    struct pva_descriptor *d = staged(number, index, __builtin_return_address(0));
    d->tx = tx;
    d->ty = ty;
}

/* Makes what was staged valid; only between two runs. */
void pva_rt_flush(uint32_t number)
{
    void *caller = __builtin_return_address(0);
    struct flow *flow = flow_of(number, caller);
    if (rt_late)
        rt_late_drain(flow, number, 1, caller);
    if (!rt_flow_ended(flow, &flow->cursor)
        && (flow->cursor.descriptor != 0 || flow->cursor.tile != 0))
        rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, number, 0, "flush of updates in the middle of a run",
                caller);
    if (flow->staged == 0)
        return;
    free(flow->own);
    flow->own = flow->staged;
    flow->staged = 0;
    flow->list = flow->own;
}

/*
 * From open to close a dataflow is not finished, whatever it has moved. Closing one whose tiles are
 * acquired and released waits for all of it.
 */
void pva_rt_hold(uint32_t number, int held)
{
    void *caller = __builtin_return_address(0);
    struct flow *flow = flow_of(number, caller);
    flow->held = held;
    if (held || (flow->kind != PVA_KIND_RASTER_UNIFIED && flow->kind != PVA_KIND_TENSOR))
        return;
    if (rt_late)
        rt_late_drain(flow, number, 1, caller);
    flow->syncs = (uint32_t)asked(flow);
    flow->led = 0;
}

void pva_rt_gather(uint32_t number, const struct pva_gather *gather)
{
    void *caller = __builtin_return_address(0);
    struct flow *flow = flow_of(number, caller);
    if (flow->count == 0)
        rt_stop(PVA_FAULT, PVA_CAUSE_HANDLER, number, 0, "", caller);
    flow->gathers = 1;
    if (rt_late)
        rt_late_gather(flow, number, gather, caller);
    else
        rt_gather_now(flow, number, gather, caller);
}

/* Waits for the tiles of all gathers that were triggered. */
void pva_rt_gather_sync(uint32_t number)
{
    void *caller = __builtin_return_address(0);
    struct flow *flow = flow_of(number, caller);
    flow->gathers = 0;
    if (rt_late)
        rt_late_drain(flow, number, 1, caller);
}
