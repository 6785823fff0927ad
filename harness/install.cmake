# The component harness of the CMake package: everything that measures in one static library, its headers, and the
# functions with which other projects bring their own kernels.

espalier_variants_of("" objects)
set(parts espalier_base espalier_json espalier_reference espalier_families espalier_api espalier_selectors espalier_records
    espalier_sweep espalier_compare espalier_learn espalier_evidence espalier_emit espalier_train espalier_judge
    espalier_report espalier_tune espalier_io espalier_seismic espalier_sessions espalier_cli espalier_host_cpu)
if(ESPALIER_CUDA)
  list(APPEND parts espalier_device_cuda)
else()
  list(APPEND parts espalier_device_host)
endif()
espalier_families(families)
foreach(family ${families})
  list(APPEND parts espalier_${family}_registry)
endforeach()
foreach(part ${parts})
  list(APPEND objects $<TARGET_OBJECTS:${part}>)
endforeach()
add_library(espalier_harness STATIC ${objects})
set_target_properties(espalier_harness PROPERTIES LINKER_LANGUAGE CXX)
set(installed_parts espalier_harness espalier_runtime espalier_tables)

set(harness_include_dir ${CMAKE_INSTALL_INCLUDEDIR}/espalier-harness)
install(TARGETS ${installed_parts} ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(folder kernels harness)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${folder} DESTINATION ${harness_include_dir}
          FILES_MATCHING PATTERN *.hpp PATTERN *.cuh PATTERN kernels/include EXCLUDE)
endforeach()
# With their sources: patterns for variants of somebody's own.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/variants DESTINATION ${harness_include_dir}
        FILES_MATCHING PATTERN *.hpp PATTERN *.cuh PATTERN *.cpp PATTERN *.cu)
install(DIRECTORY ${ESPALIER_GENERATED_DIR}/registries DESTINATION ${harness_include_dir}
        FILES_MATCHING PATTERN ids.hpp PATTERN registry.hpp PATTERN selectors.hpp)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/espalier)
set(ESPALIER_WITH_CUDA ${ESPALIER_CUDA})
configure_file(espalierHarness.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/espalierHarness.cmake @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/espalierHarness.cmake ${PROJECT_SOURCE_DIR}/cmake/EspalierRegistry.cmake
              ${PROJECT_SOURCE_DIR}/cmake/EspalierFamilyLists.cmake ${PROJECT_SOURCE_DIR}/cmake/SourceIds.cmake
              ${PROJECT_SOURCE_DIR}/cmake/EspalierOwn.cmake ${PROJECT_SOURCE_DIR}/cmake/EspalierOwnChecks.cmake
        DESTINATION ${package_dir})
