# The learner and the emitter, on a family whose variants' times are known in closed form; then on the committed results.

add_library(espalier_synthetic STATIC ${CMAKE_CURRENT_LIST_DIR}/synthetic/family.cpp)
target_include_directories(espalier_synthetic PUBLIC ${CMAKE_CURRENT_LIST_DIR}/synthetic)
target_link_libraries(espalier_synthetic PUBLIC espalier_train espalier_all_variants_executor)

foreach(name learner forest others lending judging evidence decisions imputation)
  espalier_test(learn/${name}_test espalier_synthetic)
endforeach()
target_sources(decisions_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/train/ablation.cpp ${CMAKE_CURRENT_LIST_DIR}/train/transfer.cpp)
espalier_test(train/weights_test espalier_synthetic)
espalier_test(learn/feasibility_test espalier_train espalier_all_variants_executor)
espalier_test(families/bench_test espalier_synthetic)
espalier_test(families/domain_test espalier_all_variants_executor)
espalier_test(sweep/drawn_sweep_test espalier_records espalier_all_variants_executor nlohmann_json::nlohmann_json)
target_compile_definitions(drawn_sweep_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                           ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results")
add_dependencies(drawn_sweep_test espalier)

add_executable(emit_synthetic ${CMAKE_CURRENT_LIST_DIR}/synthetic/emit_synthetic.cpp ${PROJECT_SOURCE_DIR}/kernels/tables/tree_tables.cpp)
target_link_libraries(emit_synthetic PRIVATE espalier_synthetic)
set(tables ${CMAKE_CURRENT_BINARY_DIR}/synthetic_trees.cpp)
add_custom_command(OUTPUT ${tables} COMMAND emit_synthetic ${tables} DEPENDS emit_synthetic VERBATIM)
espalier_test(emit/tree_text_test espalier_synthetic nlohmann_json::nlohmann_json)
target_sources(tree_text_test PRIVATE ${tables} ${PROJECT_SOURCE_DIR}/kernels/tables/tree_tables.cpp)

# One program and one process: its tests share the trees that they learn from the committed results.
add_executable(selectors_test ${CMAKE_CURRENT_LIST_DIR}/train/selectors_test.cpp
                                ${CMAKE_CURRENT_LIST_DIR}/train/selector_property_test.cpp)
espalier_test_program(selectors_test espalier_train espalier_all_variants_executor)
target_compile_definitions(selectors_test PRIVATE
  ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results" ESPALIER_COMMITTED_SELECTORS="${ESPALIER_SELECTORS_DIR}")
set(filter "*")
if(ESPALIER_SANITIZE)  # to read all results is slow here
  set(filter "-CommittedSelectors.*")
endif()
add_test(NAME selectors_test COMMAND selectors_test --gtest_filter=${filter})
set_tests_properties(selectors_test PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive TIMEOUT 900)
if(NOT ESPALIER_SANITIZE)  # these train on everything: once is enough
  # Its cases, too, share one process: both read the results of all CPUs.
  add_executable(fallback_test ${CMAKE_CURRENT_LIST_DIR}/train/fallback_test.cpp)
  espalier_test_program(fallback_test espalier_train espalier_all_variants_executor)
  target_compile_definitions(fallback_test PRIVATE
    ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results" ESPALIER_COMMITTED_SELECTORS="${ESPALIER_SELECTORS_DIR}")
  add_test(NAME fallback_test COMMAND fallback_test)
  set_tests_properties(fallback_test PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive TIMEOUT 1200)
  add_test(NAME selectors_are_what_the_results_give COMMAND ${CMAKE_CURRENT_LIST_DIR}/train/check_selectors.sh
           $<TARGET_FILE:espalier> WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # As whoever commits them trains: without the disturbed problems that the other tests let pass.
  set_tests_properties(selectors_are_what_the_results_give PROPERTIES TIMEOUT 1800
                                                                      ENVIRONMENT ESPALIER_ALLOW_DISTURBED=false)
endif()

espalier_test(train/forest_identity_test espalier_train espalier_all_variants_executor)
target_compile_definitions(forest_identity_test PRIVATE ESPALIER_COMMITTED_SELECTORS="${ESPALIER_SELECTORS_DIR}")

espalier_test(judge/judge_test espalier_judge espalier_train espalier_all_variants_executor)
target_compile_definitions(judge_test PRIVATE
  ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results" ESPALIER_COMMITTED_SELECTORS="${ESPALIER_SELECTORS_DIR}")
