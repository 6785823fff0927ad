# cmake --install: headers, library, a CMake package and a pkg-config file; all of it relocatable.

include(CMakePackageConfigHelpers)

set(ESPALIER_WITH_CUDA OFF)
if(ESPALIER_CUDA)
  set(ESPALIER_WITH_CUDA ON)
endif()
get_target_property(type espalier_library TYPE)
set(ESPALIER_STATIC OFF)
if(type STREQUAL "STATIC_LIBRARY")
  set(ESPALIER_STATIC ON)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
install(TARGETS espalier_library ${ESPALIER_COMPONENT_TARGETS} EXPORT espalierTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/espalier ${ESPALIER_GENERATED_DIR}/include/espalier DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN *.hpp PATTERN *.h)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE ${PROJECT_SOURCE_DIR}/THIRD-PARTY-NOTICES ${PROJECT_SOURCE_DIR}/CHANGELOG.md
        DESTINATION ${CMAKE_INSTALL_DOCDIR})
# Forests of committed trees (kernels/dispatch/forests.cpp looks for them beside the library).
install(DIRECTORY ${ESPALIER_SELECTORS_DIR}/ DESTINATION ${CMAKE_INSTALL_DATADIR}/espalier/forests
        FILES_MATCHING PATTERN "*.forest")
install(EXPORT espalierTargets NAMESPACE espalier:: DESTINATION ${package_dir})

configure_package_config_file(espalierConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/espalierConfig.cmake
                              INSTALL_DESTINATION ${package_dir} NO_SET_AND_CHECK_MACRO)
# Before 1.0 every minor version may change the interface.
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/espalierConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/espalierConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/espalierConfigVersion.cmake
        DESTINATION ${package_dir})

# A linker needs this beside a static library. Of Libs, not of Libs.private: only this library is installed, and whoever
# asks plainly (pkg-config --libs) would else not find out that it is a static one. OpenMP by name, not by path: it belongs to the user's compiler.
set(static_libs "")
set(ESPALIER_PC_CFLAGS "")
set(ESPALIER_PC_ALL_FAMILIES "")
if(ESPALIER_STATIC)
  set(ESPALIER_PC_CFLAGS " -DESPALIER_STATIC")
  set(ESPALIER_PC_ALL_FAMILIES " -Wl,-u,espalier_every_family")
  foreach(library ${OpenMP_CXX_LIB_NAMES})
    list(APPEND static_libs -l${library})
  endforeach()
  if(ESPALIER_CUDA)
    get_target_property(cuda_runtime CUDA::cudart_static IMPORTED_LOCATION)
    get_filename_component(cuda_libraries ${cuda_runtime} DIRECTORY)
    list(APPEND static_libs -L${cuda_libraries} -lcudart_static -lrt -ldl)
  endif()
endif()
list(PREPEND static_libs "")
list(JOIN static_libs " " ESPALIER_PC_STATIC_LIBS)
file(RELATIVE_PATH ESPALIER_PC_TO_PREFIX /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" ESPALIER_PC_TO_PREFIX "${ESPALIER_PC_TO_PREFIX}")
configure_file(espalier.pc.in ${CMAKE_CURRENT_BINARY_DIR}/espalier.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/espalier.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
