# Each allocation of the public functions fails in turn. Linked into a program of its own: it has an operator new.
espalier_test(allocation_test espalier_kernels)
espalier_test_sources(allocation_test allocation_calls.cpp allocation_calls_of_c.cpp allocation_calls_of_neighbours.cpp
                                      failing_memory.cpp)
target_link_libraries(allocation_test PRIVATE ${CMAKE_DL_LIBS})
target_compile_definitions(allocation_test PRIVATE
  ESPALIER_TREE="${ESPALIER_SELECTORS_DIR}/dot/cpu-graniterapids-avx512vnni-2t.tree")

espalier_test(api_misuse_test espalier_kernels)
espalier_test(api_exact_search_test espalier_kernels)
espalier_test(api_exact_shortcuts_test espalier_kernels)
espalier_test(v0_test espalier_kernels)
espalier_test(plan_predict_test espalier_kernels)

# Plans that measure, and what they learn, in processes of their own, too.
espalier_test(wisdom_test espalier_kernels)
espalier_test_sources(wisdom_test hostile_wisdom_test.cpp measure_test.cpp trials_test.cpp
                                  wisdom_of_environment_test.cpp)
add_executable(wisdom_program ${CMAKE_CURRENT_LIST_DIR}/wisdom_program.cpp)
target_link_libraries(wisdom_program PRIVATE espalier_core espalier_kernels OpenMP::OpenMP_CXX)
target_compile_definitions(wisdom_test PRIVATE ESPALIER_WISDOM_PROGRAM="$<TARGET_FILE:wisdom_program>")
add_dependencies(wisdom_test wisdom_program)

# Public functions twice: in the library as shipped, and where all variants are linked and the GPU is the host
# executor, which shows copies, alignment and workspaces without a GPU.
foreach(name api_test api_matrix_test api_data_test api_exact_knn_test api_exact_files_test api_views_test
             api_radius_test api_sharded_test)
  espalier_test(${name} espalier_kernels espalier_reference)
  target_compile_definitions(${name} PRIVATE ESPALIER_TEST_DEVICES=1)
  if(ESPALIER_CUDA)
    continue()
  endif()
  string(REPLACE api api_executor executor_name ${name})
  add_executable(${executor_name} ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  espalier_test_program(${executor_name} espalier_test_dispatch espalier_all_variants_executor)
  target_compile_definitions(${executor_name} PRIVATE ESPALIER_TEST_DEVICES=2)
  espalier_discover_tests(${executor_name} TEST_PREFIX executor.)
endforeach()
# The library in processes of its own: pinned, limited, forked.
espalier_test(threads_test espalier_kernels)
foreach(name api_device_memory plan)
  set(further)
  if(name STREQUAL plan)
    set(further plan_errors_test.cpp plan_measure_test.cpp plan_neighbours_test.cpp)
  endif()
  espalier_test(${name}_test espalier_test_dispatch espalier_all_variants_executor)
  espalier_test_sources(${name}_test ${further})
  if(ESPALIER_CUDA AND NOT BUILD_SHARED_LIBS)
    # On a real GPU; a static library lets the test use its device runtime.
    add_executable(${name}_gpu_test ${CMAKE_CURRENT_LIST_DIR}/${name}_test.cpp)
    espalier_test_sources(${name}_gpu_test ${further})
    espalier_test_program(${name}_gpu_test espalier_kernels espalier_reference)
    espalier_gpu_test(${name}_gpu_test)
  endif()
endforeach()
if(ESPALIER_CUDA AND NOT BUILD_SHARED_LIBS)
  add_executable(plan_graph_gpu_test ${CMAKE_CURRENT_LIST_DIR}/plan_graph_gpu_test.cu)
  espalier_test_program(plan_graph_gpu_test espalier_kernels)
  espalier_gpu_test(plan_graph_gpu_test)
  add_executable(stream_buffer_gpu_test ${CMAKE_CURRENT_LIST_DIR}/stream_buffer_gpu_test.cpp)
  espalier_test_program(stream_buffer_gpu_test espalier_kernels)
  espalier_gpu_test(stream_buffer_gpu_test)
endif()

espalier_test(large_filter_test espalier_all_variants_executor)

foreach(name predict_benchmark sharded_benchmark)
  add_executable(${name} EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/${name}.cpp)
  target_link_libraries(${name} PRIVATE espalier_core espalier_kernels OpenMP::OpenMP_CXX)
endforeach()
