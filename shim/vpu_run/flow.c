/* The dataflows of a launch, and the tiles that a kernel names one by one. */
#include "flow.h"

struct flow rt_flows[PVA_MAX_FLOWS];
uint32_t rt_nr_flows;

/*
 * Gather and scatter: a tile of w x h pixels at (x, y) of the memory that the dataflow's descriptor
 * names, to or from VMEM at `vmem`. What lies outside `width` x `height` (when they are not 0) is
 * padded on the way in and skipped on the way out.
 */
void rt_gather_now(struct flow *flow, uint32_t number, const struct pva_gather *gather,
                   void *caller)
{
    struct pva_descriptor d = flow->list[0];
    struct pva_side *outside = flow->reads ? &d.src : &d.dst, *inside = flow->reads ? &d.dst : &d.src;
    int64_t left = 0, right = 0, top = 0, bottom = 0, w = gather->w, h = gather->h;
    if (gather->external != PVA_GATHER_FROM_HOST) {
        outside->space = (int64_t)(gather->external >> PVA_SPACE_SHIFT);
        if (outside->space >= PVA_SPACES)
            rt_stop(PVA_FAULT, PVA_CAUSE_RANGE, number, 0, "", caller);
        outside->at = (int64_t)(gather->external & ((UINT64_C(1) << PVA_SPACE_SHIFT) - 1));
        outside->pitch = (int64_t)gather->external_pitch * d.bpp;
    }
    if (gather->width > 0) {
        left = gather->x < 0 ? -gather->x : 0;
        right = gather->x + w > gather->width ? gather->x + w - gather->width : 0;
    }
    if (gather->height > 0) {
        top = gather->y < 0 ? -gather->y : 0;
        bottom = gather->y + h > gather->height ? gather->y + h - gather->height : 0;
    }
    if (left + right >= w || top + bottom >= h)
        rt_stop(PVA_FAULT, PVA_CAUSE_RANGE, number, 0, "", caller);
    d.tx = flow->reads ? w : w - left - right;
    d.ty = flow->reads ? h : h - top - bottom;
    if (flow->reads) {
        d.left = left, d.right = right, d.top = top, d.bottom = bottom;
        d.pad_mode = gather->pad_mode == PVA_PAD_BPE ? PVA_PAD_BPE : PVA_PAD_CONST;
    }
    outside->at += (gather->y + top) * outside->pitch + (gather->x + left) * d.bpp;
    inside->space = PVA_VMEM;
    inside->pitch = (int64_t)gather->pitch * d.bpp;
    inside->at = (int64_t)gather->vmem + (flow->reads ? 0 : top * inside->pitch + left * d.bpp);
    d.tiles = d.per_trigger = 1;
    d.chained = 0;
    d.src.n[0] = d.src.n[1] = d.src.n[2] = d.dst.n[0] = d.dst.n[1] = d.dst.n[2] = 1;
    struct pva_cursor cursor = {0, 0, 0};
    if (pva_dma_run(&d, 1, &cursor, &rt_memory) != PVA_DMA_MOVED)
        rt_stop(PVA_FAULT, PVA_CAUSE_RANGE, number, 0, "", caller);
}
