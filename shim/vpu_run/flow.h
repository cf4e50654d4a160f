/* A dataflow while a launch runs. */
#ifndef CUDLA_SIM_VPU_FLOW_H
#define CUDLA_SIM_VPU_FLOW_H

#include "rt.h"

struct pva_watch;
struct pva_late;

struct flow {
    const struct pva_descriptor *list;
    uint64_t count;
    struct pva_descriptor *own, *staged; /* copies that the kernel may change */
    struct pva_cursor cursor;            /* what has been moved */
    struct pva_cursor ahead;             /* what has been triggered; used by delivery.c only */
    int32_t kind, handler;
    const cupvaFlowInfo *info;           /* as the host gave it */
    int reads, held;
    int led; /* its first sync came before its first trigger */
    uint32_t surplus, syncs, gathers;
    struct pva_late *late;   /* tiles of gathers that wait for their sync */
    struct pva_watch *watch; /* VMEM of transfers that wait for their sync */
};

static inline int rt_flow_ended(const struct flow *flow, const struct pva_cursor *cursor)
{
    return cursor->descriptor >= flow->count;
}

/* Dataflows without a fixed number of runs start over when they are triggered at their end. */
static inline int rt_flow_repeats(const struct flow *flow)
{
    return flow->kind == PVA_KIND_SEQUENCE || flow->kind == PVA_KIND_GATHER_SCATTER
        || flow->kind == PVA_KIND_DYNAMIC || flow->kind == PVA_KIND_CONFIG;
}

/* flow.c */
extern struct flow rt_flows[PVA_MAX_FLOWS];
extern uint32_t rt_nr_flows;
void rt_gather_now(struct flow *flow, uint32_t number, const struct pva_gather *gather, void *caller);

/* config.c */
void rt_config_apply(struct flow *flow, uint32_t number, void *caller);

/* delivery.c: transfers whose data does not move within the trigger. */
extern int rt_late; /* 0: data moves within the trigger, and nothing is watched */
void rt_late_begin(const struct pva_request *request);
int rt_late_trigger(struct flow *flow, uint32_t number, void *caller);
void rt_late_sync(struct flow *flow, uint32_t number, void *caller);
void rt_late_gather(struct flow *flow, uint32_t number, const struct pva_gather *gather,
                    void *caller);
/* Moves all that was triggered; `settle`: as syncs do, not only as the end of a kernel does. */
void rt_late_drain(struct flow *flow, uint32_t number, int settle, void *caller);
void rt_late_end(struct flow *flow);

/* watch.c: VMEM that nobody may write to between a trigger and its sync. */
void rt_watch_begin(struct flow *flow, const struct pva_cursor *from, uint64_t trigger);
void rt_watch_refresh(struct flow *flow, uint64_t trigger);
/* The first byte that was changed, or NULL; `last`: of triggers up to this one, which end here. */
const uint8_t *rt_watch_check(const struct flow *flow, uint64_t last);
void rt_watch_drop(struct flow *flow, uint64_t last);

#endif
