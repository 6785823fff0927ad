# The library as other programs and languages use it: one family of it, from C, from Python, and what it exports.

enable_language(C)

add_executable(c_interface_test ${CMAKE_CURRENT_LIST_DIR}/c_interface/c_test.c ${CMAKE_CURRENT_LIST_DIR}/c_interface/c_neighbours.c ${CMAKE_CURRENT_LIST_DIR}/c_interface/c_models.c
                                ${CMAKE_CURRENT_LIST_DIR}/c_interface/c_exact.c ${CMAKE_CURRENT_LIST_DIR}/c_interface/c_traces.c)
target_link_libraries(c_interface_test PRIVATE espalier::espalier m)
set_target_properties(c_interface_test PROPERTIES C_STANDARD 99 C_STANDARD_REQUIRED ON C_EXTENSIONS OFF
                                                  LINKER_LANGUAGE CXX)
target_compile_options(c_interface_test PRIVATE -Wall -Werror -pedantic -O0)
add_test(NAME c_interface_test COMMAND c_interface_test)
set_tests_properties(c_interface_test PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)

# Every public header alone, as a program of the next standard includes it: it needs nothing before it, and compiles there.
file(GLOB headers RELATIVE ${PROJECT_SOURCE_DIR}/kernels/include CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/kernels/include/espalier/*.hpp ${PROJECT_SOURCE_DIR}/kernels/include/espalier/*.h)
set(alone)
foreach(header ${headers} espalier/version.hpp)
  set(source ${ESPALIER_GENERATED_DIR}/tests/alone/${header}.cpp)
  write_if_changed(${source} "#include \"${header}\"\n")
  list(APPEND alone ${source})
endforeach()
add_library(public_headers_cxx23 OBJECT ${alone})
set_target_properties(public_headers_cxx23 PROPERTIES CXX_STANDARD 23)
target_compile_options(public_headers_cxx23 PRIVATE -Werror -O0)
target_link_libraries(public_headers_cxx23 PRIVATE espalier_flags espalier::espalier)

if(NOT ESPALIER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)  # Python and nm read a library and programs of an ordinary build
  set(shared espalier_library)
  if(NOT BUILD_SHARED_LIBS)
    # The objects of the static library export nothing: C's functions once more, over the rest of it.
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/kernels/api/c/*.cpp)
    set(shared espalier_c_interface)
    add_library(${shared} SHARED ${sources})
    target_link_libraries(${shared} PRIVATE espalier_core $<LINK_ONLY:espalier_library>)
    target_link_options(${shared} PRIVATE -Wl,--no-undefined -Wl,--exclude-libs,ALL
                                          -Wl,--version-script=${PROJECT_SOURCE_DIR}/kernels/exports.map)
    target_include_directories(${shared} PRIVATE ${ESPALIER_GENERATED_DIR}/include)

    add_executable(uses_dot ${CMAKE_CURRENT_LIST_DIR}/linking/dot.cpp)
    target_link_libraries(uses_dot PRIVATE espalier::dot)
    add_executable(uses_all ${CMAKE_CURRENT_LIST_DIR}/linking/dot.cpp)
    target_link_libraries(uses_all PRIVATE espalier::espalier)
    target_compile_definitions(uses_all PRIVATE EVERY_FAMILY)
    add_library(embeds_dot SHARED ${CMAKE_CURRENT_LIST_DIR}/linking/dot.cpp)
    target_link_libraries(embeds_dot PRIVATE espalier::dot)
    add_test(NAME link_test COMMAND ${CMAKE_CURRENT_LIST_DIR}/link_test.sh $<TARGET_FILE:uses_dot>
                                    $<TARGET_FILE:uses_all> $<TARGET_FILE:embeds_dot> ${ESPALIER_SELECTORS_DIR})
  endif()
  add_test(NAME exports_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/exports_test.py
                                     $<TARGET_FILE:${shared}> ${PROJECT_SOURCE_DIR}/kernels/include)
  add_test(NAME ctypes_test COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/c_interface/ctypes_test.py
                                    $<TARGET_FILE:${shared}>)
  set_tests_properties(ctypes_test PROPERTIES ENVIRONMENT OMP_WAIT_POLICY=passive)
endif()

if(ESPALIER_INSTALL AND NOT ESPALIER_SANITIZE)
  add_test(NAME reference_test
           COMMAND ${ESPALIER_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/reference_test.py "${ESPALIER_DOXYGEN}"
                   ${PROJECT_BINARY_DIR}/kernels/Doxyfile ${PROJECT_SOURCE_DIR}/kernels/include
                   ${CMAKE_CURRENT_BINARY_DIR}/reference)
  set_tests_properties(reference_test PROPERTIES SKIP_RETURN_CODE 77)
endif()

if(NOT ESPALIER_SANITIZE)  # it compiles the library twice, with CUDA where that is on, and never with sanitizers
  add_test(NAME consumer_test
           COMMAND ${CMAKE_CURRENT_LIST_DIR}/consumer_test.sh ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}-consumer
                   ${CMAKE_GENERATOR} ${CMAKE_CXX_COMPILER} $<IF:$<BOOL:${ESPALIER_CUDA}>,ON,OFF>
                   ${ESPALIER_WERROR} "${CMAKE_CUDA_ARCHITECTURES}")
  set_tests_properties(consumer_test PROPERTIES TIMEOUT 1800)
endif()

if(ESPALIER_INSTALL AND NOT ESPALIER_SANITIZE AND NOT CMAKE_CROSSCOMPILING)
  add_test(NAME install_test COMMAND ${CMAKE_CURRENT_LIST_DIR}/install_test.sh ${PROJECT_BINARY_DIR}
                                     ${CMAKE_CURRENT_BINARY_DIR}/installed)
endif()
