# The house: who includes whom, pages and their links, how long sources are, what environment variables there are.

add_test(NAME includes_test COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/includes_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME pages_test COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/pages_test.py)
add_test(NAME sizes_test COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/sizes_test.py)
add_test(NAME environment_test
         COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/environment_test.py ${PROJECT_SOURCE_DIR})
add_test(NAME format_test COMMAND /usr/bin/python3 ${CMAKE_CURRENT_LIST_DIR}/format_test.py ${PROJECT_SOURCE_DIR})
set_tests_properties(format_test PROPERTIES SKIP_RETURN_CODE 77)
