/*
 * When data moves. Hardware may move it at any moment from the trigger to the end of the sync that
 * waits for it; the host chooses one: within the trigger (then nothing here is called), at the sync,
 * or at a moment that a seed chooses. A kernel that reads a tile before its sync, or fills a buffer
 * that is still on its way, has other results then.
 *
 * Triggers of one dataflow keep their order. What a kernel has never waited for moves at its end, as
 * the task of the hardware ends after its DMA.
 */
#include "flow.h"

#include <stdlib.h>

int rt_late;
static uint32_t when, watching;
static uint64_t dice;

/* Tiles of gathers and scatters that were triggered and not moved. */
struct pva_late {
    uint32_t count, room;
    struct pva_gather tiles[];
};

void rt_late_begin(const struct pva_request *request)
{
    when = request->delivery;
    watching = request->watch;
    rt_late = when != PVA_AT_TRIGGER || watching != PVA_WATCH_OFF;
    dice = request->seed * 0x9E3779B97F4A7C15ull + 0xD1B54A32D192ED03ull;
}

/* xorshift64 */
static int throw_dice(void)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return dice >> 63;
}

static void restart(const struct flow *flow, struct pva_cursor *cursor)
{
    if (rt_flow_ended(flow, cursor) && rt_flow_repeats(flow))
        cursor->descriptor = cursor->tile = 0;
}

/* As pva_dma_trigger, without moving anything. */
static int step(const struct flow *flow, struct pva_cursor *cursor)
{
    restart(flow, cursor);
    if (rt_flow_ended(flow, cursor))
        return PVA_DMA_ENDED;
    cursor->triggers++;
    for (int go_on = 1; go_on;) {
        const struct pva_descriptor *d = &flow->list[cursor->descriptor];
        uint64_t left = (uint64_t)d->tiles - cursor->tile, taken = (uint64_t)d->per_trigger;
        cursor->tile += taken < left ? taken : left;
        go_on = 0;
        if (cursor->tile >= (uint64_t)d->tiles) {
            cursor->descriptor++;
            cursor->tile = 0;
            go_on = d->chained && cursor->descriptor < flow->count;
        }
    }
    return PVA_DMA_MOVED;
}

/* A changed byte ends the kernel, or is kept for the report of the launch. */
static void look(struct flow *flow, uint32_t number, uint64_t last, void *caller)
{
    const uint8_t *changed = rt_watch_check(flow, last);
    if (changed == 0)
        return;
    if (watching == PVA_WATCH_FAULT)
        rt_stop(PVA_FAULT, PVA_CAUSE_PENDING, number, (uintptr_t)changed, "", caller);
    if (rt_reply->written_flow == 0) {
        rt_reply->written_flow = number;
        rt_reply->written_at = (uintptr_t)changed;
        rt_reply->written_pc = (uintptr_t)caller;
    }
}

static void deliver_one(struct flow *flow, uint32_t number, void *caller)
{
    uint64_t trigger = flow->cursor.triggers + 1;
    if (watching && when != PVA_AT_TRIGGER)
        look(flow, number, trigger, caller);
    restart(flow, &flow->cursor);
    if (pva_dma_trigger(flow->list, flow->count, &flow->cursor, &rt_memory) != PVA_DMA_MOVED)
        rt_stop(PVA_FAULT, PVA_CAUSE_RANGE, number, 0, "", caller);
    if (watching)
        rt_watch_refresh(flow, trigger);
}

static void deliver_gathers(struct flow *flow, uint32_t number, void *caller)
{
    if (flow->late == 0)
        return;
    for (uint32_t i = 0; i < flow->late->count; i++)
        rt_gather_now(flow, number, &flow->late->tiles[i], caller);
    flow->late->count = 0;
}

/* At every trigger and sync of a kernel, whichever dataflow it is of. */
static void maybe_deliver(void *caller)
{
    if (when != PVA_AT_RANDOM)
        return;
    for (uint32_t i = 0; i < rt_nr_flows; i++) {
        struct flow *flow = &rt_flows[i];
        while (flow->handler >= 0 && flow->cursor.triggers < flow->ahead.triggers && throw_dice())
            deliver_one(flow, i + 1, caller);
        if (flow->late && flow->late->count && throw_dice())
            deliver_gathers(flow, i + 1, caller);
    }
}

int rt_late_trigger(struct flow *flow, uint32_t number, void *caller)
{
    restart(flow, &flow->ahead);
    struct pva_cursor from = flow->ahead;
    int status = step(flow, &flow->ahead);
    if (status == PVA_DMA_MOVED) {
        if (watching)
            rt_watch_begin(flow, &from, flow->ahead.triggers);
        if (when == PVA_AT_TRIGGER)
            deliver_one(flow, number, caller);
    }
    maybe_deliver(caller);
    return status;
}

void rt_late_sync(struct flow *flow, uint32_t number, void *caller)
{
    maybe_deliver(caller);
    uint64_t done = flow->syncs - (uint64_t)flow->led;
    while (flow->cursor.triggers < done && flow->cursor.triggers < flow->ahead.triggers)
        deliver_one(flow, number, caller);
    if (watching) {
        look(flow, number, done, caller);
        rt_watch_drop(flow, done);
    }
}

void rt_late_gather(struct flow *flow, uint32_t number, const struct pva_gather *gather,
                    void *caller)
{
    if (when == PVA_AT_TRIGGER) {
        rt_gather_now(flow, number, gather, caller);
        return;
    }
    uint32_t count = flow->late ? flow->late->count : 0;
    if (flow->late == 0 || count == flow->late->room) {
        uint32_t room = count ? 2 * count : 32;
        struct pva_late *grown =
            realloc(flow->late, sizeof *grown + room * sizeof grown->tiles[0]);
        if (grown == 0)
            rt_stop(PVA_FAULT, PVA_CAUSE_ORDER, number, 0, "no memory for tiles that wait", caller);
        grown->room = room;
        grown->count = count;
        flow->late = grown;
    }
    flow->late->tiles[flow->late->count++] = *gather;
}

void rt_late_drain(struct flow *flow, uint32_t number, int settle, void *caller)
{
    deliver_gathers(flow, number, caller);
    while (flow->handler >= 0 && flow->cursor.triggers < flow->ahead.triggers)
        deliver_one(flow, number, caller);
    if (settle && watching) {
        look(flow, number, UINT64_MAX, caller);
        rt_watch_drop(flow, UINT64_MAX);
    }
}

void rt_late_end(struct flow *flow)
{
    rt_watch_drop(flow, UINT64_MAX);
    free(flow->late);
    flow->late = 0;
}
