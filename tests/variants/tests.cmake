# Every variant against the oracles, and what single families promise beyond that.

if(ESPALIER_RACES)
  set(ESPALIER_TEST_FILTER TEST_FILTER *EveryVariant*)  # every order shows the same races
endif()
espalier_test(variants_test espalier_all_variants_executor)
unset(ESPALIER_TEST_FILTER)
target_sources(variants_test PRIVATE ${CMAKE_CURRENT_LIST_DIR}/determinism_host.cpp)
espalier_test(distance_test espalier_all_variants_executor)
if(NOT ESPALIER_SANITIZE)  # it is long there, as those of k-NN below; variants_test has the same kernels' edge cases
  espalier_test_sources(distance_test split_products_test.cpp)
endif()
espalier_test(smallest_k_test espalier_all_variants_executor)
espalier_test_sources(smallest_k_test smallest_k_bounds_test.cpp smallest_k_rows_test.cpp)
espalier_test(coherent_sum_test espalier_all_variants_executor)
if(ESPALIER_CUDA)
  # The same tests over the variants that nvcc compiled: they run where there is a GPU.
  add_executable(variants_gpu_test ${CMAKE_CURRENT_LIST_DIR}/variants_test.cpp ${CMAKE_CURRENT_LIST_DIR}/determinism_gpu.cpp)
  espalier_test_program(variants_gpu_test espalier_all_variants)
  espalier_gpu_test(variants_gpu_test)
endif()
if(ESPALIER_CUDA)
  espalier_test(knn_workspace_test espalier_all_variants)
else()
  espalier_test(knn_workspace_test espalier_all_variants_executor)
endif()

espalier_test(knn_test espalier_all_variants_executor)
if(NOT ESPALIER_SANITIZE)
  espalier_test(knn_fused_test espalier_all_variants_executor)
  espalier_test(knn_fused_cells_test espalier_all_variants_executor)
  espalier_test(knn_escalation_test espalier_all_variants_executor)
  espalier_test(knn_groups_test espalier_all_variants_executor)
  espalier_test(knn_few_test espalier_all_variants_executor)
endif()
espalier_test(any_threads_test espalier_all_variants_executor)

if(ESPALIER_CUDA)
  add_executable(split_products_gpu_test ${CMAKE_CURRENT_LIST_DIR}/split_products_test.cpp)
  espalier_test_program(split_products_gpu_test espalier_all_variants)
  espalier_gpu_test(split_products_gpu_test)
endif()

espalier_test(limits_test espalier_all_variants_executor)
if(ESPALIER_CUDA)
  add_executable(limits_gpu_test ${CMAKE_CURRENT_LIST_DIR}/limits_test.cpp)
  espalier_test_program(limits_gpu_test espalier_all_variants)
  espalier_gpu_test(limits_gpu_test)
endif()

if(NOT ESPALIER_CUDA AND NOT ESPALIER_SANITIZE)  # once is enough: it builds a copy of its own
  add_test(NAME add_variant_test
           COMMAND ${CMAKE_CURRENT_LIST_DIR}/add_variant_test.sh ${PROJECT_SOURCE_DIR}
                   ${CMAKE_CURRENT_BINARY_DIR}/add_variant ${CMAKE_GENERATOR} ${CMAKE_CXX_COMPILER}
                   ${ESPALIER_WERROR})
  set_tests_properties(add_variant_test PROPERTIES TIMEOUT 900)
  add_test(NAME stray_variants_test
           COMMAND ${CMAKE_CURRENT_LIST_DIR}/stray_variants_test.sh ${CMAKE_COMMAND} ${PROJECT_SOURCE_DIR}
                   ${CMAKE_CURRENT_BINARY_DIR}/stray_variants)
endif()
