# Reference pages of the public headers: `cmake --build build --target reference` writes build/reference/html. Something
# that has no documentation is an error.

find_program(ESPALIER_DOXYGEN doxygen)
find_program(ESPALIER_PYTHON python3 PATHS /usr/bin NO_DEFAULT_PATH)  # as the tests look for it
if(ESPALIER_DOXYGEN AND ESPALIER_PYTHON)
  set(ESPALIER_REFERENCE_DIR ${PROJECT_BINARY_DIR}/reference)
  configure_file(${PROJECT_SOURCE_DIR}/docs/reference/Doxyfile.in ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile @ONLY)
  add_custom_target(reference
    COMMAND ${CMAKE_COMMAND} -E make_directory ${ESPALIER_REFERENCE_DIR}
    COMMAND ${ESPALIER_DOXYGEN} ${CMAKE_CURRENT_BINARY_DIR}/Doxyfile
    COMMENT "Writing ${ESPALIER_REFERENCE_DIR}/html"
    VERBATIM)
  # The pages that were written are installed with the library.
  install(DIRECTORY ${ESPALIER_REFERENCE_DIR}/html DESTINATION ${CMAKE_INSTALL_DOCDIR} OPTIONAL)
endif()
