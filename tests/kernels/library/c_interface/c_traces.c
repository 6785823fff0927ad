/* Travel times, and traces between their samples, from C99: a part of c_test.c. */

#include "c_test.h"

static void test_delays(const espalier_device* cpu) {
    /* A grid of 2 x 1 x 2 nodes, 3 and 4 metres apart, and two receivers; 2 samples a metre. */
    const double positions[6] = {0, 0, 0, 3, 0, 4};
    const int32_t right[4][2] = {{0, 10}, {6, 8}, {8, 6}, {10, 0}};
    int32_t delays[4][2];
    espalier_source_grid grid = {sizeof grid, {0, 0, 0}, {3, 0, 4}, 2, 1, 2};
    espalier_delay_rule rule = {sizeof rule, 2};
    char* text = NULL;
    OK(espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    EXPECT(memcmp(delays, right, sizeof right) == 0);
    rule.phases = 2;
    rule.phase_samples = 100;
    rule.samples_per_metre = 0.5; /* 5 metres are two samples and a half */
    OK(espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    EXPECT(delays[0][1] == 102 && delays[1][0] == 101 && delays[2][0] == 2);
    has_text(espalier_explain_compute_delays(cpu, 2, &grid, &rule, NULL, &text), &text, "travel_time");
    rule.phase_samples = 0;
    INVALID("phase_samples", espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    rule.phases = -1;
    INVALID("phases is -1", espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    rule.phases = 0;
    rule.samples_per_metre = 0;
    INVALID("samples_per_metre", espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    rule.samples_per_metre = 1e9;
    INVALID("32 bits", espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    rule.samples_per_metre = 2;
    INVALID("positions is null", espalier_compute_delays(cpu, 2, NULL, &grid, &rule, delays[0], NULL));
    INVALID("receivers is -1", espalier_compute_delays(cpu, -1, positions, &grid, &rule, delays[0], NULL));
    INVALID("more than memory", espalier_compute_delays(cpu, INT64_MAX, positions, &grid, &rule, delays[0], NULL));
    INVALID("delays is null", espalier_compute_delays(cpu, 2, positions, &grid, &rule, NULL, NULL));
    INVALID("grid is null", espalier_compute_delays(cpu, 2, positions, NULL, &rule, delays[0], NULL));
    INVALID("rule is null", espalier_compute_delays(cpu, 2, positions, &grid, NULL, delays[0], NULL));
    grid.rows = 0; /* is empty: nothing is written */
    OK(espalier_compute_delays(cpu, 2, positions, &grid, &rule, NULL, NULL));
    grid.rows = -1;
    INVALID("rows is -1", espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
    grid.size = 8;
    INVALID("grid.size is 8", espalier_compute_delays(cpu, 2, positions, &grid, &rule, delays[0], NULL));
}

static void test_interpolation(const espalier_device* cpu) {
    const float traces[2][3] = {{0, 2, 4}, {10, 20, 0}};
    const float right[2][2][4] = {{{0, 2, 4, 0}, {1, 3, 4, 0}}, {{10, 20, 0, 0}, {15, 10, 0, 0}}};
    float copies[2][2][4];
    espalier_interpolation_shape shape = {sizeof shape, 2, 3, 1, 2};
    espalier_plan* plan = NULL;
    char* text = NULL;
    workspace room;
    OK(espalier_interpolate_traces(cpu, &shape, traces[0], copies[0][0], NULL));
    EXPECT(memcmp(copies, right, sizeof right) == 0);
    OK(espalier_plan_interpolate_traces(cpu, &shape, NULL, &plan));
    room = workspace_for(plan);
    memset(copies, 9, sizeof copies);
    OK(espalier_interpolate_traces_run(plan, &shape, traces[0], copies[0][0], NULL, room.aligned, room.bytes));
    EXPECT(memcmp(copies, right, sizeof right) == 0);
    shape.padding = 0;
    INVALID("the plan is for",
            espalier_interpolate_traces_run(plan, &shape, traces[0], copies[0][0], NULL, room.aligned, room.bytes));
    shape.padding = INT64_MAX;
    INVALID("", espalier_interpolate_traces_run(plan, &shape, traces[0], copies[0][0], NULL, room.aligned, room.bytes));
    shape.samples = INT64_MAX;
    INVALID("", espalier_interpolate_traces_run(plan, &shape, traces[0], copies[0][0], NULL, room.aligned, room.bytes));
    INVALID("", espalier_interpolate_traces(cpu, &shape, traces[0], copies[0][0], NULL));
    shape.samples = 3;
    shape.padding = 1;
    INVALID("another function's", espalier_dot_product_run(plan, 3, NULL, NULL, NULL, NULL, room.aligned, room.bytes));
    free(room.block);
    espalier_plan_free(plan);
    has_text(espalier_explain_interpolate_traces(cpu, &shape, NULL, &text), &text, "polyphase");
    shape.phases = 0;
    INVALID("phases is 0", espalier_interpolate_traces(cpu, &shape, traces[0], copies[0][0], NULL));
    shape.phases = 2;
    INVALID("traces is null", espalier_interpolate_traces(cpu, &shape, NULL, copies[0][0], NULL));
    INVALID("copies is null", espalier_interpolate_traces(cpu, &shape, traces[0], NULL, NULL));
    INVALID("shape is null", espalier_interpolate_traces(cpu, NULL, traces[0], copies[0][0], NULL));
    INVALID("plan is null", espalier_plan_interpolate_traces(cpu, &shape, NULL, NULL));
}

void test_traces(const espalier_device* cpu) {
    test_delays(cpu);
    test_interpolation(cpu);
}
