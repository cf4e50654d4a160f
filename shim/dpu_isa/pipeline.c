/*
 * Who issues when. The pipeline is a ring of the tasklets that run. Each has `step`, the cycles from its
 * issue to that of the next one; together they are the length of a round: 11 cycles, or one for each
 * tasklet where there are more. So a round needs no arithmetic but the sum of the steps, and only who
 * enters or leaves changes the ring.
 */
#include "../dpu_run/hardware.h"
#include "isa.h"

static void set_alarm(struct dpu *dpu)
{
    dpu->alarm = dpu->nr_sleepers ? dpu->sleepers[0]->until : ~0ull;
}

/* It goes on at a time that has come, or will. It is in the ring no more. */
void pipeline_sleep(struct dpu *dpu, struct tasklet *t, uint64_t until)
{
    uint32_t at = dpu->nr_sleepers++;
    t->state = SLEEPS;
    t->until = until;
    for (; at > 0 && dpu->sleepers[at - 1]->until > until; at--)
        dpu->sleepers[at] = dpu->sleepers[at - 1];
    dpu->sleepers[at] = t;
    set_alarm(dpu);
}

/* It has issued at `now`, and issues no more. Then it is the turn of `head`, at `now`. */
void pipeline_leave(struct dpu *dpu, struct tasklet *t)
{
    dpu->now += t->step;
    if (dpu->running <= ISSUE)
        t->previous->step += t->step;
    t->previous->next = t->next;
    t->next->previous = t->previous;
    dpu->head = --dpu->running ? t->next : NULL;
}

static void insert(struct dpu *dpu, struct tasklet *t, struct tasklet *before, uint32_t step)
{
    t->next = before;
    t->previous = before->previous;
    t->previous->next = t;
    before->previous = t;
    t->step = step;
    dpu->running++;
}

/* Finds a place in the ring for a tasklet that is ready now or was so since `head`'s predecessor. */
static void enter(struct dpu *dpu, struct tasklet *t)
{
    t->state = RUNS;
    if (dpu->running == 0) {
        dpu->now = dpu->now > t->until ? dpu->now : t->until;
        t->next = t->previous = dpu->head = t;
        t->step = ISSUE;
        dpu->running = 1;
        return;
    }
    struct tasklet *head = dpu->head, *last = head->previous;
    uint64_t before = dpu->now - last->step;
    uint64_t first = t->until > before ? t->until : before + 1;
    if (first < dpu->now) { /* a free cycle that has not passed yet */
        last->step = (uint32_t)(first - before);
        insert(dpu, t, head, (uint32_t)(dpu->now - first));
        dpu->head = t;
        dpu->now = first;
    } else if (dpu->running >= ISSUE) { /* before those that issued in the last 11 cycles */
        struct tasklet *place = head;
        for (uint32_t ready = dpu->running - ISSUE; ready > 0; ready--)
            place = place->next;
        insert(dpu, t, place, 1);
        if (place == head)
            dpu->head = t;
    } else { /* the next free cycle */
        struct tasklet *place = head;
        while (place->step == 1)
            place = place->next;
        uint32_t step = place->step - 1;
        place->step = 1;
        insert(dpu, t, place->next, step);
    }
}

/* Those whose time has come by `now`, when `head` would issue; with an empty ring the first one. */
void pipeline_wake(struct dpu *dpu)
{
    while (dpu->nr_sleepers && (dpu->running == 0 || dpu->sleepers[0]->until <= dpu->now)) {
        struct tasklet *t = dpu->sleepers[0];
        dpu->nr_sleepers--;
        for (uint32_t n = 0; n < dpu->nr_sleepers; n++)
            dpu->sleepers[n] = dpu->sleepers[n + 1];
        enter(dpu, t);
    }
    set_alarm(dpu);
}
