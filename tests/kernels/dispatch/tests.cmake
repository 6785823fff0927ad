# The library's inside over trees and registries of the test's own, and its outside as shipped.
add_library(espalier_test_dispatch STATIC $<TARGET_OBJECTS:espalier_api> $<TARGET_OBJECTS:espalier_test_selectors>)
target_link_libraries(espalier_test_dispatch PRIVATE espalier_checked_json)
espalier_links_all(espalier_test_dispatch)
espalier_add_selectors(espalier_test_selectors ${CMAKE_CURRENT_LIST_DIR}/data/selectors)
# Trees that are read at run time, over all variants and the committed trees, compiled and as files.
espalier_test(loaded_trees_test espalier_records espalier_all_variants_executor nlohmann_json::nlohmann_json)
target_compile_definitions(loaded_trees_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                           ESPALIER_COMMITTED_SELECTORS="${ESPALIER_SELECTORS_DIR}")
espalier_test_sources(loaded_trees_test refused_trees_test.cpp hostile_trees_test.cpp selectors_of_environment_test.cpp)
add_dependencies(loaded_trees_test espalier)

espalier_test(dispatch_test espalier_test_dispatch espalier_all_variants_executor)
espalier_test_sources(dispatch_test dispatch_allocations_test.cpp equal_choices_test.cpp explain_test.cpp
                                    forced_variants_test.cpp forest_test.cpp loaded_tree_test.cpp similar_trees_test.cpp)
espalier_test(selection_test espalier_all_variants_executor)

# How long a choice takes. Not a test: run it by hand on a quiet machine.
find_package(benchmark REQUIRED)
add_executable(dispatch_benchmark EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/dispatch_benchmark.cpp)
if(ESPALIER_CUDA)  # the committed trees, on real GPUs
  target_link_libraries(dispatch_benchmark PRIVATE espalier_core espalier_kernels benchmark::benchmark_main)
else()
  target_link_libraries(dispatch_benchmark PRIVATE espalier_core espalier_test_dispatch espalier_all_variants_executor
                                                   benchmark::benchmark_main)
endif()
