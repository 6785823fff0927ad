add_test(NAME knn_peers_test
         COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/knn_peers_test.py $<TARGET_FILE:espalier_knn_runner>
                 $<TARGET_FILE:espalier>)
if(NOT ESPALIER_CUDA AND NOT ESPALIER_SANITIZE)
  add_test(NAME whole_problems_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/whole_problems_test.py)
  add_test(NAME stages_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/stages_test.py)
  add_test(NAME machine_code_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/machine_code_test.py ${CMAKE_CXX_COMPILER}
                   ${ESPALIER_GENERATED_DIR})
endif()
