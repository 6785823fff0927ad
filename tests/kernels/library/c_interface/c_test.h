#ifndef C_TEST_H
#define C_TEST_H

/* What the parts of the test of the C interface share. */

#include <espalier/espalier.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int failures;

/* Counts and tells of a failure. */
void fail(const char* what, const char* file, int line);

#define EXPECT(condition) ((condition) ? (void)0 : fail(#condition, __FILE__, __LINE__))
#define OK(call) EXPECT((call) == ESPALIER_OK)
/* The message must name what is wrong. */
#define REFUSED(code, part, call)                            \
    ((call) == (code) && strstr(espalier_last_error(), part) \
         ? (void)0                                           \
         : fail(#call " is not refused: " part, __FILE__, __LINE__))
#define INVALID(part, call) REFUSED(ESPALIER_ERROR_INVALID_ARGUMENT, part, call)
#define BAD_FILE(part, call) REFUSED(ESPALIER_ERROR_BAD_FILE, part, call)
#define UNSUPPORTED(part, call) REFUSED(ESPALIER_ERROR_UNSUPPORTED, part, call)

/* Memory for a run of a plan, aligned as the CPU needs it. */
typedef struct {
    void* block;
    void* aligned;
    size_t bytes;
} workspace;

workspace workspace_for(const espalier_plan* plan);

/* Of a function that gives a text away: it has the part, and is freed. */
void has_text(espalier_status status, char** text, const char* part);

/* Of c_neighbours.c. */
void test_distances(const espalier_device* cpu);
void test_selection(const espalier_device* cpu);
void test_neighbours(const espalier_device* cpu);
void test_shards(const espalier_device* cpu);

/* Of c_models.c, c_exact.c and c_traces.c. */
void test_models(const espalier_device* cpu);
void test_exact(const espalier_device* cpu);
void test_traces(const espalier_device* cpu);

/* The bytes of a file, to be freed. */
unsigned char* bytes_of(const char* path, size_t* count);
void put_bytes(const char* path, const unsigned char* bytes, size_t count);

#endif
