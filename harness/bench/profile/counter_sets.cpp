#include <array>

#include "harness/bench/profile/counters.hpp"

namespace espalier::device {
namespace {

// GH100 collects these in one pass together.
constexpr std::array<std::string_view, 15> kBasic{
    "gpu__time_duration.sum",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "sm__inst_executed.avg.pct_of_peak_sustained_elapsed",
    "smsp__inst_executed.sum",
    "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum",
    "lts__t_sectors.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_op_read.sum",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
};

// Six passes by itself; those below it take eight together with the ones above.
constexpr std::string_view kThroughput = "sm__throughput.avg.pct_of_peak_sustained_elapsed";

constexpr std::array<std::string_view, 30> kFurther{
    kThroughput,
    "lts__t_sector_hit_rate.pct",
    "l1tex__t_sector_hit_rate.pct",
    "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum",
    "l1tex__t_sectors_pipe_tex_mem_texture.sum",
    "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
    "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
    "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    // Divergence: threads that take part in a warp's instruction, of 32, and branches that a whole warp takes.
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__sass_average_branch_targets_threads_uniform.pct",
    // Atomics: those on global memory that return the old value and those that do not, and those on shared memory.
    "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum",
    "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum",
    "smsp__sass_inst_executed_op_shared_atom.sum",
    "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
    // What warps wait for, beside long_scoreboard: how many at each cycle with an issue.
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
};

constexpr auto kFull = [] {
    std::array<std::string_view, kBasic.size() + kFurther.size()> all{};
    for (std::size_t i = 0; i < kBasic.size(); ++i) all[i] = kBasic[i];
    for (std::size_t i = 0; i < kFurther.size(); ++i) all[kBasic.size() + i] = kFurther[i];
    return all;
}();

}  // namespace

std::span<const std::string_view> basic_counters() { return kBasic; }
std::span<const std::string_view> full_counters() { return kFull; }

}  // namespace espalier::device
