# Readers of the users' files.

espalier_test(io_image_test espalier_io ZLIB::ZLIB)
espalier_test(io_csv_test espalier_io ZLIB::ZLIB)
espalier_test(io_table_test espalier_io)
espalier_test(io_table_memory_test espalier_io ZLIB::ZLIB)
espalier_test(io_number_test espalier_io)
espalier_test(io_formats_test espalier_io)
espalier_test(io_columns_test espalier_io)

espalier_test(window_reader_test espalier_seismic espalier_all_variants_executor)
foreach(name seismic_formats_test miniseed_test segy_test)
  espalier_test(${name} espalier_seismic espalier_all_variants_executor
                ${ESPALIER_SEGYIO_LIBRARY} ${ESPALIER_MSEED_LIBRARY})
  target_include_directories(${name} SYSTEM PRIVATE ${ESPALIER_SEGYIO_INCLUDE} ${ESPALIER_MSEED_INCLUDE})
endforeach()
espalier_test(receivers_test espalier_seismic espalier_all_variants_executor)
espalier_test(conditioned_record_test espalier_seismic espalier_all_variants_executor)
