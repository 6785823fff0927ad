# espalier_flags: what every target of the project is compiled with.

add_library(espalier_flags INTERFACE)
target_compile_options(espalier_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wno-missing-field-initializers -Wno-unknown-pragmas>
  # GCC 12 sees an overlap in every "literal" + std::string (GCC bug 105329).
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>
  # GCC notes where GCC 10 changed how aarch64 passes parameters: nothing here was built by an older one.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<STREQUAL:${CMAKE_SYSTEM_PROCESSOR},aarch64>>:-Wno-psabi>
  # Products and sums are rounded one by one, as GCC does in ISO C++.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-ffp-contract=off>
  # Nobody asks errno about a square root: then it is an instruction, and loops that take roots become vectors.
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>
  # Clang would have parentheses in a | b ? c : d, notes loops that it does not unroll and static functions of headers,
  # and functions for AVX that nobody could call who is compiled without.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-bitwise-conditional-parentheses -Wno-pass-failed
                                     -Wno-unneeded-internal-declaration -Wno-psabi>
  $<$<AND:$<BOOL:${ESPALIER_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  # GCC 12 sees uninitialised values in its own AVX-512 headers (GCC bug 105593).
  $<$<AND:$<BOOL:${ESPALIER_WERROR}>,$<COMPILE_LANG_AND_ID:CXX,GNU>>:-Wno-error=maybe-uninitialized>)

# Half of the time that the command line and the tests take to compile is optimising code that runs once. Under the
# sanitizers -Og takes two thirds of the time of -O1, and both see the same faults.
add_library(espalier_runs_once INTERFACE)
target_compile_options(espalier_runs_once INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:$<IF:$<BOOL:${ESPALIER_SANITIZE}>,-Og,$<$<CONFIG:Release>:-O1>>>)

if(ESPALIER_SANITIZE)
  # Null pointers and the ends of objects AddressSanitizer sees, too, and to look for them twice is a fifth of the time.
  add_compile_options($<$<COMPILE_LANGUAGE:CXX>:-fsanitize=address,undefined>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize=null,object-size,vptr>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-sanitize-recover=undefined>
                      $<$<COMPILE_LANGUAGE:CXX>:-fno-omit-frame-pointer>)
  add_link_options(-fsanitize=address,undefined)
endif()

# espalier_watch_accesses(<target>): its kernels report every access to the host executor, which then checks
# them for races. Only compiled, not linked with -fsanitize=thread: see harness/emulator/access_hooks.cpp.
function(espalier_watch_accesses target)
  target_compile_options(${target} PRIVATE -fsanitize=thread --param=tsan-instrument-func-entry-exit=0
                                           --param=tsan-distinguish-volatile=1)
endfunction()

if(ESPALIER_CUDA)
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    # Machine code for Ampere's A100 and Hopper, and PTX for what comes after.
    set(CMAKE_CUDA_ARCHITECTURES 80-real 90-real 90-virtual CACHE STRING "GPU architectures to compile for")
  endif()
  enable_language(CUDA)
  if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
    # CMake 3.25 does not know nvcc's flag for C++20.
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION "-std=c++20")
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION "-std=c++20")
    list(APPEND CMAKE_CUDA_COMPILE_FEATURES cuda_std_20)
  endif()
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  # Relaxed constexpr: the families' constexpr helpers serve host and device.
  target_compile_options(espalier_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr --extended-lambda -Xcompiler=-Wall,-Wextra,-Wno-missing-field-initializers -Wno-unknown-pragmas>)
endif()
