# Pages and pictures: what plots/ makes of tables.

if(NOT ESPALIER_SANITIZE)  # to read all results is slow there; once is enough
  # The evidence as tables, once for all tests that read them.
  set(exports ${CMAKE_CURRENT_BINARY_DIR}/exports)
  add_test(NAME evidence_is_exported
           COMMAND ${CMAKE_CURRENT_LIST_DIR}/export_evidence.sh $<TARGET_FILE:espalier> ${exports}
           WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(evidence_is_exported PROPERTIES FIXTURES_SETUP exports TIMEOUT 600)
  add_test(NAME evidence_is_what_its_manifest_lists COMMAND ${PROJECT_SOURCE_DIR}/scripts/evidence --check)
  add_test(NAME documents_are_what_results_and_registry_give
           COMMAND ${ESPALIER_PYTHON} ${PROJECT_SOURCE_DIR}/plots/documents.py --check --program $<TARGET_FILE:espalier>
                   --exports ${exports})
  set_tests_properties(documents_are_what_results_and_registry_give PROPERTIES FIXTURES_REQUIRED exports)
  add_test(NAME figures_are_what_results_give
           COMMAND ${ESPALIER_PYTHON} ${PROJECT_SOURCE_DIR}/plots/pictures.py --check --program $<TARGET_FILE:espalier>)
  set_tests_properties(figures_are_what_results_give PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 600)
endif()

if(NOT ESPALIER_CUDA AND NOT ESPALIER_SANITIZE)  # Python reads what other tests' commands write
  add_test(NAME report_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/report_test.py $<TARGET_FILE:espalier>)
  add_test(NAME figures_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/figures_test.py $<TARGET_FILE:espalier>)
  add_test(NAME report_disturbance_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/report_disturbance_test.py $<TARGET_FILE:espalier>)
  add_test(NAME committed_report_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/committed_report_test.py ${exports})
  add_test(NAME published_page_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/published_page_test.py $<TARGET_FILE:espalier> ${exports})
  set_tests_properties(committed_report_test published_page_test PROPERTIES FIXTURES_REQUIRED exports)
  add_test(NAME peers_page_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/peers_page_test.py)
  add_test(NAME regular_files_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/regular_files_test.py)
endif()
