/* Nearest neighbours without labels, and models in files, from C99: a part of c_test.c. */

#include "c_test.h"

#define MODEL_FILE "c_interface_test.model"

unsigned char* bytes_of(const char* path, size_t* count) {
    FILE* const file = fopen(path, "rb");
    unsigned char* const bytes = malloc(1 << 16);
    *count = file && bytes ? fread(bytes, 1, 1 << 16, file) : 0;
    EXPECT(*count > 0);
    if (file) fclose(file);
    return bytes;
}

void put_bytes(const char* path, const unsigned char* bytes, size_t count) {
    FILE* const file = fopen(path, "wb");
    EXPECT(file && fwrite(bytes, 1, count, file) == count);
    if (file) fclose(file);
}

/* Of four points on a line, and of three queries: the last one is far from all. */
static const float line[4] = {0, 1, 5, 6};
static const float asked[3] = {0.25F, 5.5F, 100};

static void test_radius(const espalier_model* model, const espalier_items* queries) {
    const int64_t offsets[4] = {0, 2, 4, 4};
    const int32_t indices[4] = {0, 1, 2, 3};
    const float distances[4] = {0.25F, 0.75F, 0.5F, 0.5F};
    espalier_radius_lists* lists = NULL;
    espalier_items none = *queries;
    OK(espalier_radius_neighbours(model, queries, 0.75F, 0, NULL, &lists));
    EXPECT(memcmp(espalier_radius_lists_offsets(lists), offsets, sizeof offsets) == 0);
    EXPECT(memcmp(espalier_radius_lists_indices(lists), indices, sizeof indices) == 0);
    EXPECT(memcmp(espalier_radius_lists_distances(lists), distances, sizeof distances) == 0);
    EXPECT(espalier_radius_lists_exact_distances(lists) == NULL);
    espalier_radius_lists_free(lists);
    OK(espalier_radius_neighbours(model, queries, 0.75F, 4, NULL, &lists));
    espalier_radius_lists_free(lists);
    INVALID("more than 3", espalier_radius_neighbours(model, queries, 0.75F, 3, NULL, &lists));
    EXPECT(lists == NULL);
    none.count = 0;
    OK(espalier_radius_neighbours(model, &none, 1, 0, NULL, &lists));
    EXPECT(espalier_radius_lists_offsets(lists)[0] == 0 && espalier_radius_lists_indices(lists) == NULL);
    espalier_radius_lists_free(lists);
    INVALID("radius.distance", espalier_radius_neighbours(model, queries, -1, 0, NULL, &lists));
    INVALID("radius.most", espalier_radius_neighbours(model, queries, 1, -1, NULL, &lists));
    INVALID("queries is null", espalier_radius_neighbours(model, NULL, 1, 0, NULL, &lists));
    INVALID("model is null", espalier_radius_neighbours(NULL, queries, 1, 0, NULL, &lists));
    INVALID("lists is null", espalier_radius_neighbours(model, queries, 1, 0, NULL, NULL));
    EXPECT(!espalier_radius_lists_offsets(NULL) && !espalier_radius_lists_indices(NULL));
    EXPECT(!espalier_radius_lists_distances(NULL) && !espalier_radius_lists_exact_distances(NULL));
    espalier_radius_lists_free(NULL);
}

static void expect_nearest(const espalier_model* model, const espalier_items* queries) {
    float distances[6];
    int32_t indices[6];
    espalier_neighbours lists = {sizeof lists};
    lists.distances = distances;
    lists.indices = indices;
    OK(espalier_kneighbors(model, queries, &lists, NULL));
    EXPECT(indices[0] == 0 && indices[1] == 1 && indices[2] == 2 && indices[3] == 3 && indices[4] == 3);
    EXPECT(distances[0] == 0.25F && distances[3] == 0.5F && distances[5] == 95);
}

static void test_plan_without_labels(const espalier_model* model, const espalier_items* queries) {
    espalier_plan* plan = NULL;
    float distances[6];
    int32_t indices[6], classes[3];
    espalier_neighbours lists = {sizeof lists};
    workspace room;
    lists.distances = distances;
    lists.indices = indices;
    INVALID("no labels", espalier_plan_predict(model, queries, 1, 1, 1, 0, 0, NULL, &plan));
    OK(espalier_plan_predict(model, queries, 0, 1, 1, 0, 0, NULL, &plan));
    room = workspace_for(plan);
    OK(espalier_kneighbors_run(plan, queries, &lists, NULL, room.aligned, room.bytes));
    EXPECT(indices[0] == 0 && indices[3] == 3 && distances[5] == 95);
    INVALID("neighbours is null", espalier_kneighbors_run(plan, queries, NULL, NULL, room.aligned, room.bytes));
    lists.layout = ESPALIER_COLUMN_MAJOR;
    INVALID("layout", espalier_kneighbors_run(plan, queries, &lists, NULL, room.aligned, room.bytes));
    free(room.block);
    espalier_plan_free(plan);
    INVALID("other kind", espalier_predict_classes(model, queries, classes, NULL, NULL));
}

/* Of every byte of the file: changed, it is refused. Of every length, too. */
static void test_damage(const espalier_device* cpu) {
    size_t count, i;
    unsigned char* const bytes = bytes_of(MODEL_FILE, &count);
    espalier_model* model = NULL;
    for (i = 0; i < count; ++i) {
        bytes[i] ^= 0x80;
        put_bytes(MODEL_FILE, bytes, count);
        BAD_FILE(MODEL_FILE, espalier_load_neighbours(cpu, MODEL_FILE, NULL, &model));
        EXPECT(model == NULL);
        bytes[i] ^= 0x80;
    }
    for (i = 0; i < count; ++i) {
        put_bytes(MODEL_FILE, bytes, i);
        BAD_FILE(MODEL_FILE, espalier_load_neighbours(cpu, MODEL_FILE, NULL, &model));
    }
    put_bytes(MODEL_FILE, bytes, count);
    OK(espalier_load_neighbours(cpu, MODEL_FILE, NULL, &model));
    espalier_model_free(model);
    free(bytes);
}

static void test_files(const espalier_device* cpu, const espalier_model* nearest, const espalier_items* points,
                       const espalier_items* queries) {
    const int32_t classes[4] = {0, 0, 1, 1};
    const float targets[4] = {0, 2, 10, 20};
    float numbers[3];
    int32_t predicted[3];
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_model *model = NULL, *again = NULL;
    rule.k = 2;
    OK(espalier_fit_classifier(cpu, points, classes, &rule, NULL, &model));
    OK(espalier_model_save(model, MODEL_FILE));
    espalier_model_free(model);
    OK(espalier_load_classifier(cpu, MODEL_FILE, NULL, &again));
    OK(espalier_predict_classes(again, queries, predicted, NULL, NULL));
    EXPECT(predicted[0] == 0 && predicted[1] == 1 && predicted[2] == 1);
    espalier_model_free(again);
    BAD_FILE("holds a KnnClassifier", espalier_load_regressor(cpu, MODEL_FILE, NULL, &again));
    EXPECT(again == NULL);
    BAD_FILE("holds a KnnClassifier", espalier_load_neighbours(cpu, MODEL_FILE, NULL, &again));
    OK(espalier_fit_regressor(cpu, points, targets, &rule, NULL, &model));
    OK(espalier_model_save(model, MODEL_FILE));
    espalier_model_free(model);
    OK(espalier_load_regressor(cpu, MODEL_FILE, NULL, &again));
    OK(espalier_predict_targets(again, queries, numbers, NULL, NULL));
    EXPECT(numbers[0] == 1 && numbers[1] == 15);
    /* A loaded model's plans know its attributes. */
    {
        espalier_plan* plan = NULL;
        espalier_items wide = *queries;
        wide.dims = 2;
        INVALID("attributes", espalier_plan_predict(again, &wide, 1, 0, 0, 0, 0, NULL, &plan));
        OK(espalier_plan_predict(again, queries, 1, 0, 0, 0, 0, NULL, &plan));
        espalier_plan_free(plan);
    }
    espalier_model_free(again);
    OK(espalier_model_save(nearest, MODEL_FILE));
    OK(espalier_load_neighbours(cpu, MODEL_FILE, NULL, &again));
    expect_nearest(again, queries);
    espalier_model_free(again);
    test_damage(cpu);
    remove(MODEL_FILE);
    BAD_FILE("no such file", espalier_load_neighbours(cpu, MODEL_FILE, NULL, &again));
    BAD_FILE("no such folder", espalier_model_save(nearest, "no_folder/model"));
    BAD_FILE("empty", espalier_model_save(nearest, ""));
    INVALID("path is null", espalier_model_save(nearest, NULL));
    INVALID("path is null", espalier_load_classifier(cpu, NULL, NULL, &again));
    INVALID("device is null", espalier_load_regressor(NULL, MODEL_FILE, NULL, &again));
    INVALID("model is null", espalier_load_neighbours(cpu, MODEL_FILE, NULL, NULL));
    INVALID("model is null", espalier_model_save(NULL, MODEL_FILE));
}

void test_models(const espalier_device* cpu) {
    espalier_items points = {sizeof points, line, 4, 1}, queries = {sizeof queries, asked, 3, 1};
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_model *model = NULL, *other = NULL;
    char* text = NULL;
    INVALID("k", espalier_fit_neighbours(cpu, &points, &rule, NULL, &model));
    rule.k = 2;
    OK(espalier_fit_neighbours(cpu, &points, &rule, NULL, &model));
    expect_nearest(model, &queries);
    test_radius(model, &queries);
    test_plan_without_labels(model, &queries);
    has_text(espalier_explain_predict(model, 3, NULL, &text), &text, "knn");
    OK(espalier_model_allowing_missing(model, &other));
    has_text(espalier_explain_predict(other, 3, NULL, &text), &text, "missing=allowed");
    expect_nearest(other, &queries);
    espalier_model_free(other);
    INVALID("other is null", espalier_model_allowing_missing(model, NULL));
    INVALID("model is null", espalier_model_allowing_missing(NULL, &other));
    EXPECT(other == NULL);
    INVALID("points is null", espalier_fit_neighbours(cpu, NULL, &rule, NULL, &other));
    INVALID("rule is null", espalier_fit_neighbours(cpu, &points, NULL, NULL, &other));
    INVALID("model is null", espalier_fit_neighbours(cpu, &points, &rule, NULL, NULL));
    test_files(cpu, model, &points, &queries);
    espalier_model_free(model);
    {
        const int32_t classes[4] = {0, 0, 1, 1};
        espalier_radius_lists* lists = NULL;
        OK(espalier_fit_classifier(cpu, &points, classes, &rule, NULL, &model));
        INVALID("espalier_fit_neighbours()", espalier_radius_neighbours(model, &queries, 1, 0, NULL, &lists));
        espalier_model_free(model);
    }
}
