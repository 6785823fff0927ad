# Real photographs and tables: those of Debian's python3-sklearn. Tests that need them skip where they are not.
set(ESPALIER_SKLEARN_DATASETS /usr/lib/python3/dist-packages/sklearn/datasets CACHE PATH
    "scikit-learn's data sets, for the tests on real input")

# Commands are tested as a user runs them.
espalier_test(grammar_test espalier_base)
target_sources(grammar_test PRIVATE ${PROJECT_SOURCE_DIR}/harness/cli/parse.cpp)
target_compile_definitions(grammar_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
add_dependencies(grammar_test espalier)
espalier_test(convolve_command_test espalier_io espalier_reference nlohmann_json::nlohmann_json)
target_compile_definitions(convolve_command_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                           ESPALIER_PHOTOGRAPHS="${ESPALIER_SKLEARN_DATASETS}/images")
add_dependencies(convolve_command_test espalier)
find_package(JPEG REQUIRED)  # both to make files that nothing here writes
find_package(TIFF REQUIRED)
espalier_test(image_formats_test espalier_io JPEG::JPEG TIFF::TIFF nlohmann_json::nlohmann_json)
target_compile_definitions(image_formats_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
add_dependencies(image_formats_test espalier)
espalier_test(knn_command_test espalier_io nlohmann_json::nlohmann_json)
target_compile_definitions(knn_command_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
add_dependencies(knn_command_test espalier)
espalier_test(knn_tables_test espalier_io nlohmann_json::nlohmann_json)
target_compile_definitions(knn_tables_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
add_dependencies(knn_tables_test espalier)
# Under the sanitizers the commands' own tests go the same ways; what the answers are, one build tells.
if(ESPALIER_SANITIZE)
elseif(EXISTS ${ESPALIER_SKLEARN_DATASETS})
  add_test(NAME knn_sklearn_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/knn_sklearn_test.py $<TARGET_FILE:espalier>
                   ${ESPALIER_SKLEARN_DATASETS}/data)
  set_tests_properties(knn_sklearn_test PROPERTIES TIMEOUT 600)
else()
  message(STATUS "knn_sklearn_test is left out: install python3-sklearn")
endif()
espalier_test(histogram_command_test espalier_io espalier_reference nlohmann_json::nlohmann_json)
target_compile_definitions(histogram_command_test PRIVATE
  ESPALIER_PROGRAM="$<TARGET_FILE:espalier>" ESPALIER_DATASETS="${ESPALIER_SKLEARN_DATASETS}"
  ESPALIER_PYTHON="${ESPALIER_PYTHON}" ESPALIER_PLOTS_DIR="${PROJECT_SOURCE_DIR}/plots")
add_dependencies(histogram_command_test espalier)
# Debian's python3-opencv, from `scripts/setup test`; nothing else uses it.
execute_process(COMMAND ${ESPALIER_PYTHON} -c "import cv2, numpy" RESULT_VARIABLE without_opencv OUTPUT_QUIET ERROR_QUIET)
if(ESPALIER_SANITIZE)
elseif(NOT without_opencv AND EXISTS ${ESPALIER_SKLEARN_DATASETS}/images)
  add_test(NAME convolve_opencv_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/convolve_opencv_test.py $<TARGET_FILE:espalier>
                   ${ESPALIER_SKLEARN_DATASETS}/images $<IF:$<BOOL:${ESPALIER_CUDA}>,cuda,executor>)
  set_tests_properties(convolve_opencv_test PROPERTIES TIMEOUT 600)
else()
  message(STATUS "convolve_opencv_test is left out: install python3-opencv and python3-sklearn")
endif()

espalier_test(explain_command_test espalier_records espalier_all_variants)
target_compile_definitions(explain_command_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                           ESPALIER_FORESTS_FOLDER="${PROJECT_SOURCE_DIR}/kernels/selectors")
add_dependencies(explain_command_test espalier)

# Seismic records: the commands as a user runs them, and the readers of formats.
espalier_test(locate_command_test espalier_seismic espalier_reference espalier_all_variants)
espalier_test(locate_sums_test espalier_seismic espalier_reference espalier_all_variants)
foreach(name locate_formats_test locate_follow_test)
  espalier_test(${name} ${ESPALIER_MSEED_LIBRARY})
  target_include_directories(${name} SYSTEM PRIVATE ${ESPALIER_MSEED_INCLUDE})
endforeach()
foreach(name locate_command_test locate_sums_test locate_formats_test locate_follow_test)
  target_compile_definitions(${name} PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
  add_dependencies(${name} espalier)
endforeach()

# The loop of examples/profile-guided on small tables: that every step goes on from the one before.
execute_process(COMMAND ${ESPALIER_PYTHON} -c "import numpy" RESULT_VARIABLE without_numpy OUTPUT_QUIET ERROR_QUIET)
if(NOT without_numpy AND NOT ESPALIER_SANITIZE)
  add_test(NAME profile_loop_test
           COMMAND ${ESPALIER_PYTHON} ${PROJECT_SOURCE_DIR}/scripts/profile_loop --program $<TARGET_FILE:espalier>
                   --folder ${CMAKE_CURRENT_BINARY_DIR}/profile_loop --scale 0.01 --rounds 1)
  set_tests_properties(profile_loop_test PROPERTIES ENVIRONMENT OMP_NUM_THREADS=1
                                                    PASS_REGULAR_EXPRESSION "measured into.*[|] all [|] [0-9]")
endif()

foreach(name verify_command_test compare_command_test show_command_test wisdom_command_test recorded_problems_test
             tune_problems_test)
  espalier_test(${name} espalier_records espalier_all_variants)
  target_compile_definitions(${name} PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>")
  add_dependencies(${name} espalier)
endforeach()

# What these read is the same in every build; under the sanitizers they would take minutes for what learn/ tests there.
if(NOT ESPALIER_CUDA AND NOT ESPALIER_SANITIZE)
  espalier_test(train_command_test espalier_records espalier_all_variants_executor)
  target_compile_definitions(train_command_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                             ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results"
                             ESPALIER_PYTHON="${ESPALIER_PYTHON}" ESPALIER_SCHEMAS="${PROJECT_SOURCE_DIR}/results/schema")
  add_dependencies(train_command_test espalier)
  espalier_test(published_test espalier_records espalier_all_variants_executor nlohmann_json::nlohmann_json)
  target_compile_definitions(published_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                             ESPALIER_RESULTS="${PROJECT_SOURCE_DIR}/results")
  add_dependencies(published_test espalier)
  espalier_test(judge_command_test espalier_judge espalier_all_variants_executor)
  target_compile_definitions(judge_command_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                             ESPALIER_PYTHON="${ESPALIER_PYTHON}" ESPALIER_SCHEMAS="${PROJECT_SOURCE_DIR}/results/schema")
  add_dependencies(judge_command_test espalier)
endif()

add_test(NAME benchmark_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/benchmark_test.py
                                     $<TARGET_FILE:espalier_benchmark>)
# On the host executor, which the build without CUDA alone has in its command line.
if(NOT ESPALIER_CUDA)
  espalier_test(tune_command_test nlohmann_json::nlohmann_json)
  target_compile_definitions(tune_command_test PRIVATE ESPALIER_PROGRAM="$<TARGET_FILE:espalier>"
                             ESPALIER_EXAMPLES="${PROJECT_SOURCE_DIR}/examples")
  add_dependencies(tune_command_test espalier)
endif()
