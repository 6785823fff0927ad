# Kernels of other projects, with the installed package.

if(ESPALIER_INSTALL AND NOT ESPALIER_CUDA AND NOT ESPALIER_SANITIZE AND NOT ESPALIER_RACES AND NOT CMAKE_CROSSCOMPILING)
  set(work ${CMAKE_CURRENT_BINARY_DIR}/own)
  add_test(NAME own_kernels_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/own_kernels_test.py ${PROJECT_BINARY_DIR}
                   ${PROJECT_SOURCE_DIR} ${work} ${CMAKE_GENERATOR} ${CMAKE_CXX_COMPILER})
  add_test(NAME example_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/example_test.py ${PROJECT_SOURCE_DIR} ${work}
                   ${CMAKE_GENERATOR} ${CMAKE_CXX_COMPILER})
  set_tests_properties(own_kernels_test PROPERTIES FIXTURES_SETUP own_package TIMEOUT 600)
  set_tests_properties(example_test PROPERTIES FIXTURES_REQUIRED own_package TIMEOUT 600)
endif()
