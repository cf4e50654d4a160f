"""The macros and the log functions of the host headers, in running C programs."""

from __future__ import annotations

from pathlib import Path

from cudla_sim.testing import Compiler

from .kernels import Kernel

KERNEL = """
#include <stdio.h>
#include <stdint.h>
__host uint32_t who;
int main(void) { printf("I am %u, 100%%\\n", who); return 0; }
"""

PROGRAM = """
#include <dpu.h>
#include <dpu_log.h>
#include <dpu_management.h>
#include <dpu_program.h>

DPU_INCBIN(kernel, "@KERNEL@");

static int evaluated;

static struct dpu_set_t count(struct dpu_set_t set)
{
    evaluated++;
    return set;
}

int main(int argc, char **argv)
{
    struct dpu_set_t set, rank, dpu, again;
    struct dpu_program_t *program;
    struct dpu_t *one;
    uint32_t index, number = 0;
    int visited = 0, enabled = 0;

    DPU_ASSERT(dpu_alloc(66, "", &set));
    DPU_ASSERT(dpu_load_from_incbin(set, &kernel, &program));
    DPU_RANK_FOREACH(set, rank) {
        DPU_FOREACH(rank, dpu, index) {
            if (index != __dpu_it.count) return 10;
            DPU_FOREACH(dpu, again) visited += again.kind;
            DPU_ASSERT(dpu_copy_to(dpu, "who", 0, &number, sizeof number));
            number++;
        }
        STRUCT_DPU_FOREACH(dpu_rank_from_set(rank), one) enabled += dpu_is_enabled(one);
    }
    printf("%d %d %s\\n", visited, enabled, program->program_path);
    DPU_CHECK(dpu_sync(count(set)), return 11);
    DPU_CHECK(dpu_copy_from(count(set), "who", 0, &number, sizeof number), printf("refused\\n"));
    printf("evaluated %d\\n", evaluated);
    DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
    DPU_FOREACH(set, dpu, index) {
        if (index != 65) continue;
        fflush(stdout);
        DPU_ASSERT(dpu_log_read(dpu, stdout));
        DPU_ASSERT(dpulog_read_for_dpu(dpu_from_set(dpu), stdout));
        DPU_ASSERT(dpulog_read_for_dpu_(dpu_from_set(dpu), dpulog_c_print_fct, stdout));
    }
    dpulog_c_print_fct(stdout, "%s %d\\n", "text", 7);
    if (argc > 1) DPU_ASSERT(dpu_load(set, argv[1], NULL));
    DPU_ASSERT(dpu_free(set));
    return 0;
}
"""


def test_loops_checks_incbin_and_logs(sim_cc: Compiler, kernel: Kernel) -> None:
    text = PROGRAM.replace("@KERNEL@", str(kernel(KERNEL)))
    program = sim_cc.build(text)
    result = sim_cc.run(program)
    assert result.status == 0, result.out + result.err
    lines = result.out.splitlines()
    assert lines[0] == f"66 66 {kernel(KERNEL)}"
    assert lines[1:3] == ["refused", "evaluated 2"]
    assert lines[3].startswith("=== DPU#0x1")
    assert [line for line in lines[4:] if "===" not in line] == ["I am 65, 100%"] * 3 + ["text 7"]
    assert result.err.strip().endswith("(main): DPU Error (invalid action for this dpu set)")
    assert len(result.err.splitlines()) == 1


def test_dpu_assert_ends_the_program(sim_cc: Compiler, kernel: Kernel, tmp_path: Path) -> None:
    program = sim_cc.build(PROGRAM.replace("@KERNEL@", str(kernel(KERNEL))))
    result = sim_cc.run(program, str(tmp_path / "missing"))
    assert result.status == 1
    assert result.err.splitlines()[-1].endswith("(main): DPU Error (no such ELF file)")


def test_a_second_process_of_a_fork_gets_its_own_dpus(sim_cc: Compiler, kernel: Kernel) -> None:
    program = sim_cc.build(
        """
        #include <dpu.h>
        #include <sys/wait.h>
        #include <unistd.h>
        int main(int argc, char **argv)
        {
            (void)argc;
            int status = 0;
            pid_t child = fork();
            struct dpu_set_t set;
            uint32_t who = child ? 1 : 2, back = 0;
            DPU_ASSERT(dpu_alloc(1, NULL, &set));
            DPU_ASSERT(dpu_load(set, argv[1], NULL));
            DPU_ASSERT(dpu_copy_to(set, "who", 0, &who, sizeof who));
            DPU_ASSERT(dpu_launch(set, DPU_SYNCHRONOUS));
            struct dpu_set_t dpu;
            DPU_FOREACH(set, dpu) DPU_ASSERT(dpu_copy_from(dpu, "who", 0, &back, sizeof back));
            DPU_ASSERT(dpu_free(set));
            if (child) waitpid(child, &status, 0);
            return back != who || status;
        }
        """
    )
    result = sim_cc.run(program, str(kernel(KERNEL)))
    assert result.status == 0, result.err


def test_backends_have_names(sim_cc: Compiler) -> None:
    """The words of profiles and the names of the constants, as the SDK's manual spells them."""
    program = sim_cc.build(
        """
        #include <dpu_target.h>
        #include <stdio.h>
        int main(void)
        {
            const char *words[] = { "simulator", "cas", "model", "hw", "spi", "scenario" };
            dpu_type_t type;
            for (int i = 0; i < 6; i++) {
                if (!dpu_type_from_profile_string(words[i], &type)) return 1;
                printf("%d %s\\n", (int)type, dpu_type_to_string(type));
            }
            if (dpu_type_from_profile_string("fast", &type)) return 2;
            printf("%s\\n", dpu_type_to_string(NB_OF_DPU_TYPES));
            return 0;
        }
        """
    )
    result = sim_cc.run(program)
    assert result.status == 0, result.err
    assert result.out.split("\n")[:-1] == [
        "0 FUNCTIONAL_SIMULATOR",
        "1 CYCLE_ACCURATE_SIMULATOR",
        "2 RTL_SIMULATOR",
        "3 HW",
        "4 BACKUP_SPI",
        "5 SCENARIO",
        "UNKNOWN",
    ]
