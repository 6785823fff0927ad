#!/usr/bin/env bash
# What lies under variants/ and would not be registered ends the configuration, with an error that names it.
#
# usage: stray_variants_test.sh CMAKE SOURCES WORK_FOLDER

set -euo pipefail

cmake=$1
sources=$2
work=$3
failed=0

# Configures a project of two families with the files that are named beside those that any has.
configure() {
    rm -rf "$work"
    mkdir -p "$work/kernels/problems" "$work/variants/dot/x86" "$work/variants/dot/fused" "$work/variants/histogram"
    cat >"$work/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.25)
project(stray NONE)
include($sources/cmake/EspalierVariants.cmake)
espalier_check_variants()
END
    touch "$work"/kernels/problems/{dot,histogram}.hpp "$work"/variants/{CMakeLists.txt,shared.hpp,README.md}
    touch "$work"/variants/dot/{cpu_scalar.cpp,sum.cuh,one_block.cu,x86/cpu_avx2.cpp,fused/lists.hpp}
    for file in "$@"; do
        mkdir -p "$work/$(dirname "$file")"
        touch "$work/$file"
    done
    "$cmake" -S "$work" -B "$work/build" >"$work/log" 2>&1
}

expect_error() {
    local file=$1 named=$2
    if configure "$file"; then
        echo "$file configures"
    elif ! grep -qF -- "$named" "$work/log"; then
        echo "the error for $file does not say '$named':"
        cat "$work/log"
    else
        return 0
    fi
    failed=1
}

if ! configure; then
    cat "$work/log"
    echo "what is registered does not configure"
    failed=1
fi
expect_error variants/histograms/cpu_scalar.cpp "variants/histograms/: no family is called histograms"
expect_error variants/histograms/only_a_header.hpp "variants/histograms/: no family is called histograms"
expect_error variants/Dot/cpu_more.cpp "variants/Dot/: no family is called Dot; kernels/problems/ has dot, histogram"
expect_error variants/cpu_stray.cpp "variants/cpu_stray.cpp: a variant lies in its family's folder"
expect_error variants/dot/foo.cc "variants/dot/foo.cc: variants end in .cpp or .cu"
expect_error variants/foo.cc "variants/foo.cc: variants end in .cpp or .cu"
expect_error variants/dot/x86/foo.cxx "variants/dot/x86/foo.cxx: variants end in .cpp or .cu"
expect_error variants/dot/helper.h "variants/dot/helper.h: variants end in"
expect_error variants/dot/cpu_loud.CPP "variants/dot/cpu_loud.CPP: variants end in"
expect_error variants/dot/x64/cpu_more.cpp "variants/dot/x64/cpu_more.cpp: variants lie in variants/dot/ itself"
expect_error variants/dot/fused/cpu_more.cpp "variants/dot/fused/cpu_more.cpp: variants lie in variants/dot/ itself"
expect_error variants/dot/x86/deep/cpu_more.cpp "variants/dot/x86/deep/cpu_more.cpp: variants lie in"
expect_error variants/dot/sm_80/fast.cu "variants/dot/sm_80/fast.cu: variants lie in"
expect_error variants/dot/cpu-more.cpp "variants/dot/cpu-more.cpp: its name, cpu-more, is to be the name of a function"
expect_error variants/dot/x86/cpu_scalar.cpp "dot has another variant called cpu_scalar"
exit $failed
