# What measures, learns and judges.

foreach(name records_test csv_test)
  espalier_test(records/${name} espalier_records espalier_all_variants_executor)
endforeach()
espalier_test_sources(records_test records/listed_problems_test.cpp records/merge_test.cpp records/results_test.cpp)
target_link_libraries(records_test PRIVATE ZLIB::ZLIB)
espalier_test(records/journal_test espalier_records espalier_all_variants_executor ZLIB::ZLIB)
espalier_test(sweep/timing_test espalier_sweep espalier_all_variants)
foreach(name sampler problem_queue busy counting forecast protocol resume)
  espalier_test(sweep/${name}_test espalier_sweep espalier_all_variants_executor)
endforeach()
espalier_test(profile/copy_rates_test espalier_sweep espalier_all_variants_executor)
espalier_test(families/transfer_test espalier_all_variants_executor)
espalier_test(families/stages_test espalier_all_variants_executor)
if(ESPALIER_CUDA)
  add_executable(counters_gpu_test ${CMAKE_CURRENT_LIST_DIR}/profile/counters_gpu_test.cpp)
  espalier_test_program(counters_gpu_test espalier_device)
  espalier_gpu_test(counters_gpu_test)
endif()
if(TARGET espalier_peers)
  add_test(NAME peers_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/peers/peers_test.py
                                   $<TARGET_FILE:espalier_peers> $<TARGET_FILE:espalier_peers_module>)
endif()

# faulty_espalier is the command line with a family whose variants fail in every way; its list of families takes the
# place of the generated one, which stays in its archive.
add_library(espalier_faulty OBJECT ${CMAKE_CURRENT_LIST_DIR}/faulty/family.cpp ${CMAKE_CURRENT_LIST_DIR}/faulty/variants.cpp)
target_link_libraries(espalier_faulty PRIVATE espalier_core espalier_sweep espalier_runs_once)
add_executable(faulty_espalier ${PROJECT_SOURCE_DIR}/harness/programs/espalier.cpp $<TARGET_OBJECTS:espalier_faulty>)
if(ESPALIER_CUDA)
  target_sources(faulty_espalier PRIVATE ${CMAKE_CURRENT_LIST_DIR}/faulty/gpu_variants.cu)
else()
  target_sources(faulty_espalier PRIVATE ${CMAKE_CURRENT_LIST_DIR}/faulty/no_gpu_variants.cpp)
endif()
target_link_libraries(faulty_espalier PRIVATE espalier_core espalier_cli espalier_all_variants espalier_runs_once)
add_executable(device_group_test ${CMAKE_CURRENT_LIST_DIR}/sweep/device_group_test.cpp $<TARGET_OBJECTS:espalier_faulty> ${CMAKE_CURRENT_LIST_DIR}/faulty/no_gpu_variants.cpp)
target_link_libraries(device_group_test PRIVATE espalier_core espalier_sweep espalier_all_variants
                                                espalier_test_flags GTest::gtest)
espalier_discover_tests(device_group_test PROPERTIES RESOURCE_LOCK faulty_espalier)
# Looks for orphans of this very program, and at clocks: one at a time.
add_executable(sweep_test ${CMAKE_CURRENT_LIST_DIR}/sweep/sweep_test.cpp ${CMAKE_CURRENT_LIST_DIR}/sweep/sweep_plans_test.cpp)
espalier_test_program(sweep_test espalier_records espalier_all_variants_executor nlohmann_json::nlohmann_json)
target_compile_definitions(sweep_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:faulty_espalier>")
add_dependencies(sweep_test faulty_espalier)
# Crashes must reach the sweep as the signals that they are, not as AddressSanitizer's exit.
espalier_discover_tests(sweep_test PROPERTIES RESOURCE_LOCK faulty_espalier ENVIRONMENT ASAN_OPTIONS=handle_segv=0:handle_abort=0:handle_sigfpe=0)
add_test(NAME schema_test COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/records/schema_test.py
                                  $<TARGET_FILE:faulty_espalier> ${PROJECT_SOURCE_DIR}/results/schema)
set_tests_properties(schema_test PROPERTIES RESOURCE_LOCK faulty_espalier)

espalier_test(sweep/device_lock_test espalier_sweep espalier_all_variants)
target_compile_definitions(device_lock_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
add_dependencies(device_lock_test espalier)

# What is made of records afterwards.
espalier_test(compare/compare_test espalier_compare espalier_all_variants_executor)
add_executable(aa_comparison ${CMAKE_CURRENT_LIST_DIR}/compare/aa_comparison.cpp)
target_link_libraries(aa_comparison PRIVATE espalier_core espalier_train espalier_all_variants)

# What trees would be of other measurements: for docs/performance/selectors.md.
foreach(name forest_study fresh_rounds learner_study size_study)
  add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/train/${name}.cpp)
  target_link_libraries(${name} PRIVATE espalier_judge espalier_train espalier_all_variants_executor)
  target_compile_definitions(${name} PRIVATE ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results")
endforeach()
add_executable(selector_benchmark EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/train/selector_benchmark.cpp)
target_link_libraries(selector_benchmark PRIVATE espalier_train espalier_all_variants_executor benchmark::benchmark)
target_compile_definitions(selector_benchmark PRIVATE ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results")
find_package(CLI11 REQUIRED)
add_executable(variant_study EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/train/variant_study.cpp
               ${CMAKE_CURRENT_LIST_DIR}/train/ablation.cpp ${CMAKE_CURRENT_LIST_DIR}/train/transfer.cpp)
target_link_libraries(variant_study PRIVATE espalier_train espalier_all_variants_executor CLI11::CLI11)
target_compile_definitions(variant_study PRIVATE ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results")

if(NOT ESPALIER_CUDA)  # the learner knows devices by their results alone: the builds without CUDA tell all
  include(${CMAKE_CURRENT_LIST_DIR}/learning.cmake)
endif()

# Tuning of kernels that are described, without running any.
espalier_test(tune/expression_test espalier_tune espalier_all_variants_executor)
espalier_test_sources(expression_test tune/description_test.cpp tune/space_test.cpp tune/pick_test.cpp)
