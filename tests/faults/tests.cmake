# What all of it survives.

add_test(NAME faults_table COMMAND ${ESPALIER_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/faults --table --check)
if(NOT ESPALIER_CUDA AND NOT ESPALIER_SANITIZE AND NOT ESPALIER_RACES)  # of these, too, one build is enough
  add_test(NAME slurm_test COMMAND ${ESPALIER_PYTHON} -B ${PROJECT_SOURCE_DIR}/tests/bench/sweep/slurm_test.py
                                   $<TARGET_FILE:faulty_espalier>)
  set_tests_properties(slurm_test PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 400 RESOURCE_LOCK faulty_espalier)
  # Row 22 is slurm_test; row 33 needs a quiet machine, and compare_test has its rates on synthetic sweeps.
  add_test(NAME faults_quick COMMAND ${ESPALIER_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/faults --quick
                                     --rows 1-21,23-32,34-38 --bin ${PROJECT_BINARY_DIR})
  set_tests_properties(faults_quick PROPERTIES TIMEOUT 900 RESOURCE_LOCK faulty_espalier)
endif()
