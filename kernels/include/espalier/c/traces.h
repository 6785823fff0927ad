#ifndef ESPALIER_C_TRACES_H
#define ESPALIER_C_TRACES_H

/**
 * @file
 * Travel times, and traces between their samples: see espalier/espalier.h.
 */

#include "espalier/c/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * For espalier_sum_coherently(): how many samples after its emission the signal of each node arrives at each receiver.
 * @param device where it runs
 * @param receivers how many there are
 * @param positions x, y and z of each receiver, in metres, in host memory
 * @param grid the sources
 * @param rule how times become delays
 * @param delays receives a row of receivers delays for each node of the grid
 * @param options null for the defaults; the delays are there when the call returns, asynchronous or not
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_compute_delays(const espalier_device* device, int64_t receivers,
                                                       const double* positions, const espalier_source_grid* grid,
                                                       const espalier_delay_rule* rule, int32_t* delays,
                                                       const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_compute_delays() would run, and why.
 * @param device where it runs
 * @param receivers how many there are
 * @param grid the sources
 * @param rule how times become delays
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_compute_delays(const espalier_device* device, int64_t receivers,
                                                               const espalier_source_grid* grid,
                                                               const espalier_delay_rule* rule,
                                                               const espalier_options* options,
                                                               char** text) ESPALIER_C_NOEXCEPT;

/**
 * Traces between their samples: copy p of a trace is interpolated p / phases of a sample onwards.
 * @param device where it runs
 * @param shape of traces and copies
 * @param traces receivers * samples finite numbers
 * @param copies receives receivers * phases * (samples + padding) numbers
 * @param options null for the defaults
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_interpolate_traces(const espalier_device* device,
                                                           const espalier_interpolation_shape* shape,
                                                           const float* traces, float* copies,
                                                           const espalier_options* options) ESPALIER_C_NOEXCEPT;

/**
 * A plan for espalier_interpolate_traces().
 * @param device where it runs
 * @param shape of traces and copies
 * @param options all but stream, asynchronous and progress; null for the defaults
 * @param plan receives the plan
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_plan_interpolate_traces(const espalier_device* device,
                                                                const espalier_interpolation_shape* shape,
                                                                const espalier_options* options,
                                                                espalier_plan** plan) ESPALIER_C_NOEXCEPT;

/**
 * Does what espalier_interpolate_traces() does, in a plan.
 * @param plan of espalier_plan_interpolate_traces()
 * @param shape as the plan's
 * @param traces receivers * samples finite numbers
 * @param copies receives receivers * phases * (samples + padding) numbers
 * @param stream a cudaStream_t, null for the CPU and for the default stream
 * @param workspace memory of the device, aligned to 512 bytes (64 on the CPU); null if none is needed
 * @param workspace_bytes its size, at least espalier_plan_workspace_bytes()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_interpolate_traces_run(const espalier_plan* plan,
                                                               const espalier_interpolation_shape* shape,
                                                               const float* traces, float* copies, void* stream,
                                                               void* workspace,
                                                               size_t workspace_bytes) ESPALIER_C_NOEXCEPT;

/**
 * What espalier_interpolate_traces() would run, and why.
 * @param device where it runs
 * @param shape of traces and copies
 * @param options variant, deterministic and threads; null for the defaults
 * @param text receives several lines, to be freed by espalier_free_text()
 * @return a status
 */
ESPALIER_C_API espalier_status espalier_explain_interpolate_traces(const espalier_device* device,
                                                                   const espalier_interpolation_shape* shape,
                                                                   const espalier_options* options,
                                                                   char** text) ESPALIER_C_NOEXCEPT;

#ifdef __cplusplus
}
#endif

#endif
