# The host executor itself.

espalier_test(executor_test espalier_device_host)
espalier_test(executor_runtime_test espalier_device_host)

espalier_test(race_detector_test espalier_device_host)
if(ESPALIER_RACES)
  espalier_test(races_test espalier_device_host)
  espalier_watch_accesses(races_test)
  set_property(TARGET races_test PROPERTY DISABLE_PRECOMPILE_HEADERS ON)
endif()

# The intrinsics on the host executor, and with nvcc on the hardware that it stands in for.
set(ESPALIER_INTRINSICS_TESTS)
foreach(name intrinsics_test matrix_intrinsics_test)
  write_if_changed(${ESPALIER_GENERATED_DIR}/tests/${name}.cpp "#include \"tests/emulator/${name}.cu\"\n")
  list(APPEND ESPALIER_INTRINSICS_TESTS ${ESPALIER_GENERATED_DIR}/tests/${name}.cpp)
endforeach()
add_executable(intrinsics_test ${ESPALIER_INTRINSICS_TESTS})
espalier_test_program(intrinsics_test espalier_device_host)
espalier_discover_tests(intrinsics_test)
if(ESPALIER_CUDA)
  add_executable(intrinsics_gpu_test ${CMAKE_CURRENT_LIST_DIR}/intrinsics_test.cu
                 ${CMAKE_CURRENT_LIST_DIR}/matrix_intrinsics_test.cu)
  target_link_libraries(intrinsics_gpu_test PRIVATE espalier_core GTest::gtest_main espalier_device_cuda)
  espalier_gpu_test(intrinsics_gpu_test)
endif()
