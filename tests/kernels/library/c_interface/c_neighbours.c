/* Distances, selections and nearest neighbours from C99: a part of c_test.c. */

#include "c_test.h"

static void test_right_distances(const espalier_device* cpu) {
    const float queries[2][2] = {{0, 0}, {3, 4}}, points[3][2] = {{0, 0}, {3, 4}, {6, 8}};
    const float points_by_columns[2][3] = {{0, 3, 6}, {0, 4, 8}};
    const float right[2][3] = {{0, 5, 10}, {5, 0, 5}};
    float result[2][3], turned[3][2];
    espalier_items q = {sizeof q}, p = {sizeof p};
    espalier_distance_rule rule = {sizeof rule};
    espalier_plan* plan = NULL;
    char* text = NULL;
    uint8_t types[2] = {ESPALIER_ATTRIBUTE_NUMERIC, ESPALIER_ATTRIBUTE_NOMINAL};
    int i, j;
    q.values = queries[0];
    q.count = 2;
    p.values = points[0];
    p.count = 3;
    q.dims = p.dims = 2;
    OK(espalier_pairwise_distances(cpu, &q, &p, NULL, result[0], 0, ESPALIER_ROW_MAJOR, NULL));
    EXPECT(memcmp(result, right, sizeof right) == 0);
    OK(espalier_pairwise_distances(cpu, &q, &p, NULL, turned[0], 0, ESPALIER_COLUMN_MAJOR, NULL));
    for (i = 0; i < 2; ++i)
        for (j = 0; j < 3; ++j) EXPECT(turned[j][i] == right[i][j]);
    p.values = points_by_columns[0];
    p.layout = ESPALIER_COLUMN_MAJOR;
    p.stride = 3;
    OK(espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 3, ESPALIER_ROW_MAJOR, NULL));
    EXPECT(memcmp(result, right, sizeof right) == 0);
    rule.metric = ESPALIER_METRIC_MIXED_EUCLIDEAN;
    rule.types = types;
    rule.type_count = 2;
    OK(espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, ESPALIER_ROW_MAJOR, NULL));
    EXPECT(fabs(result[0][1] - sqrt(10)) < 1e-5);
    OK(espalier_plan_pairwise_distances(cpu, &q, &p, NULL, 0, ESPALIER_ROW_MAJOR, NULL, &plan));
    {
        workspace room = workspace_for(plan);
        OK(espalier_pairwise_distances_run(plan, &q, &p, result[0], NULL, room.aligned, room.bytes));
        EXPECT(memcmp(result, right, sizeof right) == 0);
        q.count = 1;
        INVALID("the plan is for 2",
                espalier_pairwise_distances_run(plan, &q, &p, result[0], NULL, room.aligned, room.bytes));
        q.count = 2;
        free(room.block);
    }
    espalier_plan_free(plan);
    has_text(espalier_explain_pairwise_distances(cpu, &q, &p, &rule, 0, 0, NULL, &text), &text, "distance");
}

static void test_refused_distances(const espalier_device* cpu) {
    const float queries[2][2] = {{0, 0}, {3, 4}}, points_by_columns[2][3] = {{0, 3, 6}, {0, 4, 8}};
    float result[2][3];
    uint8_t types[2] = {ESPALIER_ATTRIBUTE_NUMERIC, 2};
    espalier_items q = {sizeof q}, p = {sizeof p};
    espalier_distance_rule rule = {sizeof rule};
    q.values = queries[0];
    q.count = 2;
    p.values = points_by_columns[0];
    p.count = 3;
    p.layout = ESPALIER_COLUMN_MAJOR;
    p.stride = 3;
    q.dims = p.dims = 2;
    rule.metric = ESPALIER_METRIC_MIXED_EUCLIDEAN;
    rule.types = types;
    rule.type_count = 2;
    INVALID("types", espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, 0, NULL));
    rule.type_count = 1;
    INVALID("each of the 2 attributes", espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, 0, NULL));
    rule.type_count = -1;
    INVALID("type_count", espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, 0, NULL));
    rule.type_count = 2;
    rule.types = NULL;
    INVALID("types is null", espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, 0, NULL));
    rule.type_count = 0;
    rule.metric = 5;
    INVALID("metric is 5", espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, 0, NULL));
    rule.metric = 0;
    rule.missing = 2;
    INVALID("missing is 2", espalier_pairwise_distances(cpu, &q, &p, &rule, result[0], 0, 0, NULL));
    INVALID("layout is 2", espalier_pairwise_distances(cpu, &q, &p, NULL, result[0], 0, 2, NULL));
    INVALID("stride", espalier_pairwise_distances(cpu, &q, &p, NULL, result[0], 2, 0, NULL));
    p.stride = 1;
    INVALID("stride", espalier_pairwise_distances(cpu, &q, &p, NULL, result[0], 0, 0, NULL));
    p.stride = 0;
    p.layout = 7;
    INVALID("points.layout is 7", espalier_pairwise_distances(cpu, &q, &p, NULL, result[0], 0, 0, NULL));
    p.layout = 0;
    INVALID("queries is null", espalier_pairwise_distances(cpu, NULL, &p, NULL, result[0], 0, 0, NULL));
    INVALID("points is null", espalier_pairwise_distances(cpu, &q, NULL, NULL, result[0], 0, 0, NULL));
    INVALID("result is null", espalier_pairwise_distances(cpu, &q, &p, NULL, NULL, 0, 0, NULL));
}

void test_distances(const espalier_device* cpu) {
    test_right_distances(cpu);
    test_refused_distances(cpu);
}

void test_selection(const espalier_device* cpu) {
    const float keys[2][4] = {{4, 1, 3, 2}, {8, 8, 5, 9}};
    const int32_t whole[2][4] = {{4, -1, 3, 2}, {8, 8, 5, 9}};
    float values[2][2];
    int32_t indices[2][2], whole_values[2][2];
    espalier_selection_shape shape = {sizeof shape, 2, 4, 2};
    espalier_plan* plan = NULL;
    char* text = NULL;
    OK(espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    EXPECT(values[0][0] == 1 && values[0][1] == 2 && values[1][0] == 5 && values[1][1] == 8);
    EXPECT(indices[0][0] == 1 && indices[0][1] == 3 && indices[1][0] == 2 && indices[1][1] == 0);
    shape.keys = ESPALIER_KEYS_INT32;
    OK(espalier_select_smallest_k(cpu, &shape, whole, whole_values, indices[0], NULL));
    EXPECT(whole_values[0][0] == -1 && whole_values[1][0] == 5 && indices[0][1] == 3);
    shape.keys = ESPALIER_KEYS_FLOAT32;
    OK(espalier_plan_select_smallest_k(cpu, &shape, NULL, &plan));
    {
        workspace room = workspace_for(plan);
        memset(indices, 9, sizeof indices);
        OK(espalier_select_smallest_k_run(plan, &shape, keys, values, indices[0], NULL, room.aligned, room.bytes));
        EXPECT(indices[0][0] == 1 && indices[1][1] == 0);
        shape.k = 1;
        INVALID("the plan is for",
                espalier_select_smallest_k_run(plan, &shape, keys, values, indices[0], NULL, room.aligned, room.bytes));
        shape.k = 2;
        free(room.block);
    }
    espalier_plan_free(plan);
    has_text(espalier_explain_select_smallest_k(cpu, &shape, NULL, &text), &text, "smallest_k");
    shape.keys = 260;
    INVALID("shape.keys is 260", espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    shape.keys = 0;
    shape.order = 2;
    INVALID("shape.order is 2", espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    shape.order = 0;
    shape.layout = -1;
    INVALID("shape.layout is -1", espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    shape.layout = 0;
    shape.k = 0;
    INVALID("k", espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    shape.k = 2;
    shape.key_stride = 3;
    INVALID("stride is 3", espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    shape.key_stride = 4;
    shape.list_stride = 1;
    INVALID("stride is 1", espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    shape.list_stride = 2;
    OK(espalier_select_smallest_k(cpu, &shape, keys, values, indices[0], NULL));
    INVALID("keys is null", espalier_select_smallest_k(cpu, &shape, NULL, values, indices[0], NULL));
    INVALID("values is null", espalier_select_smallest_k(cpu, &shape, keys, NULL, indices[0], NULL));
    INVALID("indices is null", espalier_select_smallest_k(cpu, &shape, keys, values, NULL, NULL));
    INVALID("shape is null", espalier_select_smallest_k(cpu, NULL, keys, values, indices[0], NULL));
}

/* Of four points on a line, the two nearest of two queries. */
static const float line[4] = {0, 1, 5, 6};
static const float asked[2] = {0.25F, 5.75F};

static void expect_neighbours(const float* distances, const int32_t* indices, int column_major) {
    const float right[2][2] = {{0.25F, 0.75F}, {0.25F, 0.75F}};
    const int32_t nearest[2][2] = {{0, 1}, {3, 2}};
    int q, j;
    for (q = 0; q < 2; ++q)
        for (j = 0; j < 2; ++j) {
            const int at = column_major ? j * 2 + q : q * 2 + j;
            EXPECT(fabs(distances[at] - right[q][j]) < 1e-5);
            EXPECT(indices[at] == nearest[q][j]);
        }
}

static void test_planned_neighbours(const espalier_model* model, const espalier_items* queries) {
    espalier_plan* plan = NULL;
    int32_t classes[2] = {9, 9}, indices[4];
    float distances[4];
    espalier_neighbours lists = {sizeof lists};
    OK(espalier_plan_predict(model, queries, 1, 1, 1, 0, ESPALIER_COLUMN_MAJOR, NULL, &plan));
    {
        workspace room = workspace_for(plan);
        lists.distances = distances;
        lists.indices = indices;
        INVALID("layout", espalier_predict_classes_run(plan, queries, classes, &lists, NULL, room.aligned, room.bytes));
        lists.layout = ESPALIER_COLUMN_MAJOR;
        OK(espalier_predict_classes_run(plan, queries, classes, &lists, NULL, room.aligned, room.bytes));
        EXPECT(classes[0] == 0 && classes[1] == 1);
        expect_neighbours(distances, indices, 1);
        INVALID("classification",
                espalier_predict_targets_run(plan, queries, distances, &lists, NULL, room.aligned, room.bytes));
        INVALID("classes", espalier_predict_classes_run(plan, queries, NULL, &lists, NULL, room.aligned, room.bytes));
        free(room.block);
    }
    espalier_plan_free(plan);
    INVALID("no results", espalier_plan_predict(model, queries, 0, 0, 0, 0, 0, NULL, &plan));
    EXPECT(plan == NULL);
}

void test_neighbours(const espalier_device* cpu) {
    const int32_t classes[4] = {0, 0, 1, 1};
    const float targets[4] = {0, 2, 10, 20};
    float numbers[2], distances[4];
    int32_t predicted[2], indices[4];
    espalier_items points = {sizeof points, line, 4, 1}, queries = {sizeof queries, asked, 2, 1};
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_neighbours lists = {sizeof lists};
    espalier_model *classifier = NULL, *regressor = NULL, *none = NULL;
    espalier_plan* plan = NULL;
    char* text = NULL;
    INVALID("k", espalier_fit_classifier(cpu, &points, classes, &rule, NULL, &classifier));
    rule.k = 2;
    OK(espalier_fit_classifier(cpu, &points, classes, &rule, NULL, &classifier));
    OK(espalier_fit_regressor(cpu, &points, targets, &rule, NULL, &regressor));
    OK(espalier_predict_classes(classifier, &queries, predicted, NULL, NULL));
    EXPECT(predicted[0] == 0 && predicted[1] == 1);
    lists.distances = distances;
    lists.indices = indices;
    OK(espalier_predict_targets(regressor, &queries, numbers, &lists, NULL));
    EXPECT(numbers[0] == 1 && numbers[1] == 15);
    expect_neighbours(distances, indices, 0);
    memset(indices, 9, sizeof indices);
    OK(espalier_kneighbors(classifier, &queries, &lists, NULL));
    expect_neighbours(distances, indices, 0);
    lists.layout = ESPALIER_COLUMN_MAJOR;
    OK(espalier_kneighbors(regressor, &queries, &lists, NULL));
    expect_neighbours(distances, indices, 1);
    lists.stride = 1;
    INVALID("stride of the neighbours is 1", espalier_kneighbors(regressor, &queries, &lists, NULL));
    lists.stride = 0;
    lists.layout = 2;
    INVALID("neighbours.layout is 2", espalier_kneighbors(regressor, &queries, &lists, NULL));
    lists.layout = 0;
    lists.indices = NULL;
    OK(espalier_kneighbors(regressor, &queries, &lists, NULL));
    INVALID("neighbours is null", espalier_kneighbors(regressor, &queries, NULL, NULL));
    test_planned_neighbours(classifier, &queries);
    has_text(espalier_explain_predict(classifier, 2, NULL, &text), &text, "knn");
    INVALID("other kind", espalier_predict_classes(regressor, &queries, predicted, NULL, NULL));
    INVALID("other kind", espalier_predict_targets(classifier, &queries, numbers, NULL, NULL));
    INVALID("classes is null", espalier_predict_classes(classifier, &queries, NULL, NULL, NULL));
    INVALID("queries is null", espalier_predict_classes(classifier, NULL, predicted, NULL, NULL));
    INVALID("model is null", espalier_predict_classes(NULL, &queries, predicted, NULL, NULL));
    INVALID("model is null", espalier_plan_predict(NULL, &queries, 1, 0, 0, 0, 0, NULL, &plan));
    INVALID("model is null", espalier_explain_predict(NULL, 2, NULL, &text));
    queries.dims = 2;
    INVALID("attributes", espalier_predict_classes(classifier, &queries, predicted, NULL, NULL));
    INVALID("attributes", espalier_plan_predict(classifier, &queries, 1, 0, 0, 0, 0, NULL, &plan));
    rule.vote = 2;
    INVALID("rule.vote is 2", espalier_fit_classifier(cpu, &points, classes, &rule, NULL, &none));
    EXPECT(none == NULL);
    INVALID("rule is null", espalier_fit_classifier(cpu, &points, classes, NULL, NULL, &none));
    INVALID("classes is null", espalier_fit_classifier(cpu, &points, NULL, &rule, NULL, &none));
    INVALID("points is null", espalier_fit_classifier(cpu, NULL, classes, &rule, NULL, &none));
    INVALID("model is null", espalier_fit_regressor(cpu, &points, targets, &rule, NULL, NULL));
    espalier_model_free(classifier);
    espalier_model_free(regressor);
    espalier_model_free(NULL);
}

void test_shards(const espalier_device* cpu) {
    const int32_t classes[4] = {0, 0, 1, 1};
    const float targets[4] = {0, 2, 10, 20};
    const espalier_device* devices[2] = {cpu, cpu};
    const espalier_device* missing[2] = {cpu, NULL};
    float numbers[2], distances[4];
    int32_t predicted[2], indices[4];
    int64_t shards = 0, resident = -1;
    espalier_items points = {sizeof points, line, 4, 1}, queries = {sizeof queries, asked, 2, 1};
    espalier_neighbour_rule rule = {sizeof rule};
    espalier_neighbours lists = {sizeof lists};
    espalier_sharded_model *classifier = NULL, *regressor = NULL, *plain = NULL, *none = NULL;
    rule.k = 2;
    OK(espalier_sharded_fit(devices, 2, &points, classes, NULL, &rule, 0, NULL, &classifier));
    OK(espalier_sharded_fit(devices, 1, &points, NULL, targets, &rule, 64, NULL, &regressor));
    OK(espalier_sharded_fit(devices, 1, &points, NULL, NULL, &rule, 64, NULL, &plain));
    OK(espalier_sharded_counts(classifier, &shards, &resident));
    EXPECT(shards == 2 && resident == 0);
    OK(espalier_sharded_counts(regressor, &shards, &resident));
    EXPECT(shards == 4 && resident == 0);
    OK(espalier_sharded_predict_classes(classifier, &queries, predicted, NULL));
    EXPECT(predicted[0] == 0 && predicted[1] == 1);
    OK(espalier_sharded_predict_targets(regressor, &queries, numbers, NULL));
    EXPECT(numbers[0] == 1 && numbers[1] == 15);
    lists.distances = distances;
    lists.indices = indices;
    OK(espalier_sharded_kneighbors(plain, &queries, &lists, NULL));
    expect_neighbours(distances, indices, 0);
    lists.layout = ESPALIER_COLUMN_MAJOR;
    OK(espalier_sharded_kneighbors(classifier, &queries, &lists, NULL));
    expect_neighbours(distances, indices, 1);
    INVALID("neighbours is null", espalier_sharded_kneighbors(plain, &queries, NULL, NULL));
    INVALID("has no targets", espalier_sharded_predict_targets(classifier, &queries, numbers, NULL));
    INVALID("has no classes", espalier_sharded_predict_classes(plain, &queries, predicted, NULL));
    INVALID("classes is null", espalier_sharded_predict_classes(classifier, &queries, NULL, NULL));
    INVALID("model is null", espalier_sharded_counts(NULL, &shards, &resident));
    INVALID("resident is null", espalier_sharded_counts(plain, &shards, NULL));
    INVALID("classes and targets", espalier_sharded_fit(devices, 1, &points, classes, targets, &rule, 0, NULL, &none));
    INVALID("device is null", espalier_sharded_fit(missing, 2, &points, NULL, NULL, &rule, 0, NULL, &none));
    INVALID("devices is null", espalier_sharded_fit(NULL, 2, &points, NULL, NULL, &rule, 0, NULL, &none));
    INVALID("no devices", espalier_sharded_fit(NULL, 0, &points, NULL, NULL, &rule, 0, NULL, &none));
    EXPECT(none == NULL);
    espalier_sharded_model_free(classifier);
    espalier_sharded_model_free(regressor);
    espalier_sharded_model_free(plain);
    espalier_sharded_model_free(NULL);
}
