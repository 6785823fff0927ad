/* The C interface from C99: right values of every function, by calls and by plans; explanations; errors for null
 * pointers, values that are none, other sizes, strides, plans and models of others, and structs of other versions.
 * Linked against the library as it is built, and against the installed one (tests/kernels/library/consumer_test.sh). */

#include "c_test.h"

int failures = 0;

void fail(const char* what, const char* file, int line) {
    fprintf(stderr, "%s:%d: %s; last error: %s\n", file, line, what, espalier_last_error());
    ++failures;
}

workspace workspace_for(const espalier_plan* plan) {
    workspace room;
    room.bytes = espalier_plan_workspace_bytes(plan);
    room.block = malloc(room.bytes + 64);
    room.aligned = (char*)room.block + (64 - (uintptr_t)room.block % 64) % 64;
    return room;
}

void has_text(espalier_status status, char** text, const char* part) {
    OK(status);
    EXPECT(*text && strstr(*text, part));
    espalier_free_text(*text);
    *text = NULL;
}

static void test_devices(espalier_device* cpu) {
    espalier_device* other = NULL;
    OK(espalier_device_best(&other));
    EXPECT(strlen(espalier_device_key(other)) > 0);
    espalier_device_free(other);
    other = cpu;
    REFUSED(ESPALIER_ERROR_NO_DEVICE, "", espalier_device_cuda(1000, &other));
    EXPECT(other == NULL);
    EXPECT(espalier_device_ordinal(cpu) == -1);
    EXPECT(strncmp(espalier_device_key(cpu), "cpu-", 4) == 0);
    EXPECT(strstr(espalier_device_description(cpu), espalier_device_key(cpu)));
    EXPECT(strlen(espalier_version()) >= 5);
    INVALID("device is null", espalier_device_cpu(NULL));
    INVALID("device is null", espalier_device_best(NULL));
    EXPECT(espalier_device_ordinal(NULL) == -1 && *espalier_device_key(NULL) == 0);
    espalier_device_free(NULL);
}

static void test_dot(const espalier_device* cpu) {
    const float a[4] = {1, 2, 3, 4}, b[4] = {5, 6, 7, 8};
    float result = 0;
    espalier_plan* plan = NULL;
    char* text = NULL;
    OK(espalier_dot_product(cpu, 4, a, b, &result, NULL));
    EXPECT(result == 70);
    OK(espalier_plan_dot_product(cpu, 4, NULL, &plan));
    workspace room = workspace_for(plan);
    result = 0;
    OK(espalier_dot_product_run(plan, 4, a, b, &result, NULL, room.aligned, room.bytes));
    EXPECT(result == 70);
    INVALID("the plan is for 4", espalier_dot_product_run(plan, 3, a, b, &result, NULL, room.aligned, room.bytes));
    INVALID("negative", espalier_dot_product_run(plan, -1, a, b, &result, NULL, room.aligned, room.bytes));
    INVALID("another function's", espalier_count_bytes_run(plan, 4, (const uint8_t*)a, (uint64_t*)room.aligned, NULL,
                                                           room.aligned, room.bytes));
    has_text(espalier_plan_explain(plan, &text), &text, "runs: ");
    EXPECT(espalier_plan_deterministic(plan) == 1 || espalier_plan_deterministic(plan) == 0);
    espalier_plan_free(plan);
    free(room.block);
    has_text(espalier_explain_dot_product(cpu, 4, NULL, &text), &text, "dot elements=4");
    has_text(espalier_explain(cpu, "dot", "elements=5", NULL, &text), &text, "dot elements=5");
    INVALID("nonsense", espalier_explain(cpu, "nonsense", "", NULL, &text));
    EXPECT(text == NULL);
    INVALID("family is null", espalier_explain(cpu, NULL, "", NULL, &text));
    INVALID("problem is null", espalier_explain(cpu, "dot", NULL, NULL, &text));
    INVALID("text is null", espalier_explain(cpu, "dot", "", NULL, NULL));
    INVALID("device is null", espalier_dot_product(NULL, 4, a, b, &result, NULL));
    INVALID("a is null", espalier_dot_product(cpu, 4, NULL, b, &result, NULL));
    INVALID("b is null", espalier_dot_product(cpu, 4, a, NULL, &result, NULL));
    INVALID("result is null", espalier_dot_product(cpu, 4, a, b, NULL, NULL));
    INVALID("negative", espalier_dot_product(cpu, -4, a, b, &result, NULL));
    INVALID("plan is null", espalier_plan_dot_product(cpu, 4, NULL, NULL));
    INVALID("plan is null", espalier_dot_product_run(NULL, 4, a, b, &result, NULL, NULL, 0));
    INVALID("plan is null", espalier_plan_explain(NULL, &text));
    EXPECT(espalier_plan_workspace_bytes(NULL) == 0);
    espalier_plan_free(NULL);
    espalier_free_text(NULL);
}

/* A struct of a later version. */
typedef struct {
    espalier_options known;
    int64_t later;
} later_options;

static void test_options(const espalier_device* cpu) {
    const float a[2] = {1, 2};
    float result = 0;
    espalier_options options = {sizeof options};
    OK(espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.threads = 1;
    options.deterministic = 1;
    options.variant = "cpu_scalar";
    OK(espalier_dot_product(cpu, 2, a, a, &result, &options));
    EXPECT(result == 5);
    options.variant = "nonsense";
    REFUSED(ESPALIER_ERROR_UNKNOWN_VARIANT, "nonsense", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.variant = "";
    options.threads = -1;
    INVALID("threads", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.threads = 0;
    options.memory = 77;
    INVALID("options.memory is 77", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.memory = -1;
    INVALID("options.memory is -1", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.memory = ESPALIER_MEMORY_DEVICE;
    INVALID("device", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.memory = ESPALIER_MEMORY_HOST;
    options.stream = &options;
    INVALID("stream", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.stream = NULL;
    options.size = 0;
    INVALID("options.size is 0", espalier_dot_product(cpu, 2, a, a, &result, &options));
    options.size = (size_t)-1;
    INVALID("options.size", espalier_dot_product(cpu, 2, a, a, &result, &options));
    {
        later_options later;
        memset(&later, 0, sizeof later);
        later.known.size = sizeof later;
        OK(espalier_dot_product(cpu, 2, a, a, &result, &later.known));
        later.later = 1;
        INVALID("does not know", espalier_dot_product(cpu, 2, a, a, &result, &later.known));
    }
}

/* Struct of the first version, which had no progress. */
typedef struct {
    size_t size;
    void* stream;
    const char* variant;
    int32_t memory, asynchronous, deterministic, threads;
} first_options;

static int calls;
static double last_done;
static bool goes_on(void* user, double done) {
    ++calls;
    EXPECT(calls > 1 ? done >= last_done : done == 0);
    last_done = done;
    return *(const int*)user != 0;
}

static void test_progress(const espalier_device* cpu) {
    const float a[2] = {1, 2};
    float result = 0;
    int wish = 1;
    espalier_plan* plan = NULL;
    espalier_options options = {sizeof options};
    options.progress = goes_on;
    options.progress_user = &wish;
    OK(espalier_dot_product(cpu, 2, a, a, &result, &options));
    EXPECT(result == 5 && calls >= 2 && last_done == 1);
    wish = calls = 0;
    REFUSED(ESPALIER_ERROR_CANCELLED, "progress returned false", espalier_dot_product(cpu, 2, a, a, &result, &options));
    EXPECT(calls == 1);
    INVALID("progress", espalier_plan_dot_product(cpu, 2, &options, &plan));
    {
        /* What follows a struct of the first version is not read. */
        struct {
            first_options options;
            void *progress, *user;
        } given;
        memset(&given, 0, sizeof given);
        given.options.size = sizeof given.options;
        given.progress = given.user = &given;
        OK(espalier_dot_product(cpu, 2, a, a, &result, (const espalier_options*)&given));
        EXPECT(calls == 1);
    }
}

static void test_histogram(const espalier_device* cpu) {
    uint8_t bytes[300];
    uint64_t counts[256];
    espalier_plan* plan = NULL;
    char* text = NULL;
    int i;
    for (i = 0; i < 300; ++i) bytes[i] = (uint8_t)i;
    OK(espalier_count_bytes(cpu, 300, bytes, counts, NULL));
    EXPECT(counts[0] == 2 && counts[43] == 2 && counts[44] == 1 && counts[255] == 1);
    OK(espalier_plan_count_bytes(cpu, 300, NULL, &plan));
    {
        workspace room = workspace_for(plan);
        memset(counts, 0, sizeof counts);
        OK(espalier_count_bytes_run(plan, 300, bytes, counts, NULL, room.aligned, room.bytes));
        EXPECT(counts[0] == 2 && counts[255] == 1);
        INVALID("another function's",
                espalier_dot_product_run(plan, 300, NULL, NULL, NULL, NULL, room.aligned, room.bytes));
        free(room.block);
    }
    espalier_plan_free(plan);
    has_text(espalier_explain_count_bytes(cpu, 300, NULL, &text), &text, "histogram");
    INVALID("bytes is null", espalier_count_bytes(cpu, 300, NULL, counts, NULL));
    INVALID("counts is null", espalier_count_bytes(cpu, 300, bytes, NULL, NULL));
}

static void test_convolution(const espalier_device* cpu) {
    enum { WIDTH = 9, HEIGHT = 7, COUNT = WIDTH * HEIGHT };
    uint8_t image[COUNT], result[COUNT];
    float filter[49];
    espalier_image_shape shape = {sizeof shape, WIDTH, HEIGHT};
    int side, i;
    char* text = NULL;
    shape.channels = 1;
    for (i = 0; i < COUNT; ++i) image[i] = (uint8_t)(i * 3);
    for (side = 3; side <= 7; side += 2) {
        /* Takes the pixel on the right; beyond the last there is 0. */
        memset(filter, 0, sizeof filter);
        filter[side * side / 2 + 1] = 1;
        memset(result, 1, sizeof result);
        OK(espalier_convolve_2d(cpu, &shape, filter, side, ESPALIER_BORDER_ZERO, image, result, NULL));
        for (i = 0; i < COUNT; ++i) EXPECT(result[i] == (i % WIDTH == WIDTH - 1 ? 0 : image[i + 1]));
        has_text(espalier_explain_convolve_2d(cpu, &shape, filter, side, ESPALIER_BORDER_ZERO, NULL, &text), &text,
                 "convolution_2d");
    }
    for (side = 3; side <= 7; side += 2) {
        espalier_plan* plan = NULL;
        memset(filter, 0, sizeof filter);
        filter[side * side / 2] = 2;
        OK(espalier_plan_convolve_2d(cpu, &shape, filter, side, ESPALIER_BORDER_MIRROR, NULL, &plan));
        {
            workspace room = workspace_for(plan);
            OK(espalier_convolve_2d_run(plan, &shape, image, result, NULL, room.aligned, room.bytes));
            for (i = 0; i < COUNT; ++i) EXPECT(result[i] == (2 * image[i] > 255 ? 255 : 2 * image[i]));
            has_text(espalier_plan_explain(plan, &text), &text, "convolution_2d");
            shape.height -= 1;
            INVALID("the plan is for 7",
                    espalier_convolve_2d_run(plan, &shape, image, result, NULL, room.aligned, room.bytes));
            shape.height += 1;
            free(room.block);
        }
        espalier_plan_free(plan);
    }
}

static void test_refused_convolutions(const espalier_device* cpu) {
    enum { WIDTH = 9, HEIGHT = 7, COUNT = WIDTH * HEIGHT };
    uint8_t image[COUNT] = {0}, result[COUNT];
    float filter[49] = {0};
    espalier_image_shape shape = {sizeof shape, WIDTH, HEIGHT};
    shape.channels = 1;
    {
        espalier_plan* plan = (espalier_plan*)&shape;
        INVALID("side is 9", espalier_plan_convolve_2d(cpu, &shape, filter, 9, 0, NULL, &plan));
        EXPECT(plan == NULL);
        INVALID("border is 3", espalier_plan_convolve_2d(cpu, &shape, filter, 7, 3, NULL, &plan));
        INVALID("filter is null", espalier_plan_convolve_2d(cpu, &shape, NULL, 7, 0, NULL, &plan));
    }
    INVALID("side is 4", espalier_convolve_2d(cpu, &shape, filter, 4, 0, image, result, NULL));
    INVALID("border is 3", espalier_convolve_2d(cpu, &shape, filter, 3, 3, image, result, NULL));
    INVALID("border is -1", espalier_convolve_2d(cpu, &shape, filter, 7, -1, image, result, NULL));
    INVALID("filter is null", espalier_convolve_2d(cpu, &shape, NULL, 3, 0, image, result, NULL));
    INVALID("shape is null", espalier_convolve_2d(cpu, NULL, filter, 3, 0, image, result, NULL));
    shape.image_pitch = WIDTH;
    shape.result_pitch = WIDTH;
    OK(espalier_convolve_2d(cpu, &shape, filter, 5, 0, image, result, NULL));
    shape.result_pitch = WIDTH - 1;
    INVALID("pitch is 8", espalier_convolve_2d(cpu, &shape, filter, 5, 0, image, result, NULL));
    shape.result_pitch = 0;
    shape.image_pitch = -WIDTH;
    INVALID("pitch is -9", espalier_convolve_2d(cpu, &shape, filter, 5, 0, image, result, NULL));
    shape.image_pitch = 0;
    shape.reserved = 1;
    INVALID("reserved", espalier_convolve_2d(cpu, &shape, filter, 5, 0, image, result, NULL));
    shape.reserved = 0;
    shape.width = -1;
    INVALID("width is -1", espalier_convolve_2d(cpu, &shape, filter, 5, 0, image, result, NULL));
}

static void test_coherent_sum(const espalier_device* cpu) {
    const float traces[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
    const int32_t delays[3][2] = {{0, 0}, {1, 0}, {0, 2}};
    const float right[3][2] = {{11, 22}, {12, 23}, {31, 42}};
    float sums[3][2], maximum[3];
    int32_t sample[3];
    espalier_coherent_sum_shape shape = {sizeof shape, 2, 2, 3, 2};
    int output;
    char* text = NULL;
    OK(espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    EXPECT(memcmp(sums, right, sizeof right) == 0);
    OK(espalier_maximum_coherence(cpu, &shape, traces[0], delays[0], maximum, sample, NULL));
    EXPECT(maximum[0] == 22 && maximum[1] == 23 && maximum[2] == 42 && sample[0] == 1 && sample[2] == 1);
    for (output = ESPALIER_COHERENCE_SUMS; output <= ESPALIER_COHERENCE_MAXIMUM; ++output) {
        espalier_plan* plan = NULL;
        OK(espalier_plan_coherent_sum(cpu, &shape, output, NULL, &plan));
        {
            workspace room = workspace_for(plan);
            memset(sums, 0, sizeof sums);
            memset(maximum, 0, sizeof maximum);
            if (output == ESPALIER_COHERENCE_SUMS) {
                OK(espalier_sum_coherently_run(plan, &shape, traces[0], delays[0], sums[0], NULL, room.aligned,
                                               room.bytes));
                EXPECT(memcmp(sums, right, sizeof right) == 0);
                INVALID("", espalier_maximum_coherence_run(plan, &shape, traces[0], delays[0], maximum, sample, NULL,
                                                           room.aligned, room.bytes));
            } else {
                OK(espalier_maximum_coherence_run(plan, &shape, traces[0], delays[0], maximum, sample, NULL,
                                                  room.aligned, room.bytes));
                EXPECT(maximum[1] == 23 && sample[1] == 1);
                INVALID("", espalier_sum_coherently_run(plan, &shape, traces[0], delays[0], sums[0], NULL, room.aligned,
                                                        room.bytes));
            }
            free(room.block);
        }
        espalier_plan_free(plan);
        has_text(espalier_explain_coherent_sum(cpu, &shape, output, NULL, &text), &text, "coherent_sum");
    }
    INVALID("output is 2", espalier_explain_coherent_sum(cpu, &shape, 2, NULL, &text));
}

static void test_shapes_of_coherent_sums(const espalier_device* cpu) {
    const float traces[2][4] = {{1, 2, 3, 4}, {10, 20, 30, 40}};
    const int32_t delays[3][2] = {{0, 0}, {1, 0}, {0, 2}};
    float sums[3][2], maximum[3];
    int32_t sample[3];
    espalier_coherent_sum_shape shape = {sizeof shape, 2, 2, 3, 2};
    shape.precision = ESPALIER_PRECISION_HALF;
    OK(espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.precision = 256; /* is 0 in 8 bits */
    INVALID("shape.precision is 256", espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.precision = 0;
    shape.delays = ESPALIER_DELAYS_SCATTERED;
    OK(espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.delays = -1;
    INVALID("shape.delays is -1", espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.delays = ESPALIER_DELAYS_GRID;
    shape.trace_stride = 5;
    UNSUPPORTED("shape.trace_stride is 5", espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.trace_stride = 4;
    shape.delay_stride = 1;
    INVALID("shape.delay_stride is 1", espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.delay_stride = 2;
    shape.sum_stride = 3;
    UNSUPPORTED("shape.sum_stride is 3", espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    shape.sum_stride = 2;
    OK(espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
    INVALID("traces is null", espalier_sum_coherently(cpu, &shape, NULL, delays[0], sums[0], NULL));
    INVALID("delays is null", espalier_sum_coherently(cpu, &shape, traces[0], NULL, sums[0], NULL));
    INVALID("shape is null", espalier_maximum_coherence(cpu, NULL, traces[0], delays[0], maximum, sample, NULL));
    shape.span = INT64_MAX;
    shape.trace_stride = 0;
    INVALID("samples + span", espalier_sum_coherently(cpu, &shape, traces[0], delays[0], sums[0], NULL));
}

int main(void) {
    espalier_device* cpu = NULL;
    EXPECT(*espalier_last_error() == 0);
    REFUSED(ESPALIER_ERROR_BAD_FILE, "nowhere", espalier_load_selectors("/nowhere"));
    INVALID("path is null", espalier_load_selectors(NULL));
    OK(espalier_device_cpu(&cpu));
    test_devices(cpu);
    test_dot(cpu);
    test_options(cpu);
    test_progress(cpu);
    test_histogram(cpu);
    test_convolution(cpu);
    test_refused_convolutions(cpu);
    test_coherent_sum(cpu);
    test_shapes_of_coherent_sums(cpu);
    test_distances(cpu);
    test_selection(cpu);
    test_neighbours(cpu);
    test_shards(cpu);
    test_models(cpu);
    test_exact(cpu);
    test_traces(cpu);
    espalier_device_free(cpu);
    if (failures) fprintf(stderr, "%d failures\n", failures);
    return failures ? 1 : 0;
}
