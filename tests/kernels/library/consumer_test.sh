#!/bin/sh
# Installs the library static and shared, moves it, and builds and runs tests/kernels/library/consumer and the tests of the C interface
# against both through CMake and through pkg-config.
# Usage: consumer_test.sh <source tree> <scratch folder> <generator> <compiler> <ON for a library with CUDA, else OFF>
#        <ON where warnings are errors, else OFF> [<GPU architectures>]
#
# The libraries are built beside the scratch folder, as deep below the sources as the build that runs this: the compiler
# cache, which knows paths relative to the folder that it compiles in, then has most of their objects if
# the options agree.
set -eu

source=$1
scratch=$2
generator=$3
compiler=$4
cuda=$5
werror=$6
architectures=${7:-}
rm -rf "$scratch"
mkdir -p "$scratch"
trap 'rm -rf "$scratch-static" "$scratch-shared"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

# One header at a time, with nothing before it: each must bring what it needs, and nothing private.
check_headers() {
    for header in "$1"/include/espalier/espalier.h "$1"/include/espalier/c/*.h; do
        for language in 'c -std=c99' 'c++ -std=c++20'; do
            # shellcheck disable=SC2086  # the language and its standard are two words
            "$compiler" -Wall -Wextra -pedantic -Werror -fsyntax-only -I"$1/include" -x $language "$header" ||
                fail "$header does not stand alone"
        done
    done
    for header in "$1"/include/espalier/*.hpp; do
        echo "#include <espalier/$(basename "$header")>" |
            "$compiler" -std=c++20 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$1/include" -x c++ - ||
            fail "$header does not stand alone"
    done
    if grep -rnE '#include +["<](harness|variants|kernels|cuda|device/)' "$1/include"; then
        fail "a public header includes a private one"
    fi
}

# The shared library exports its interface, which Python can use, and its file name says with what it is compatible.
check_shared() {
    python3 "$source/tests/kernels/library/exports_test.py" "$1" "$prefix/include" || fail "$1 exports something else"
    [ -f "$1.0.1" ] || fail "$1 has another SOVERSION than docs/abi.md says"
    python3 "$source/tests/kernels/library/c_interface/ctypes_test.py" "$1" >"$scratch/log" 2>&1 || { cat "$scratch/log"; fail "ctypes"; }
}

run_consumer() {
    "$1" >"$scratch/output" || fail "$1 exits with $?"
    grep -q '^runs: ' "$scratch/output" || fail "$1 does not explain"
    ESPALIER_FORCE_VARIANT=convolution_2d/cpu_scalar "$1" | grep -q 'ESPALIER_FORCE_VARIANT asks for it' ||
        fail "$1 ignores the forced variant"
    for wrong in nonsense convolution_2d/nonsense nonsense/cpu_scalar; do
        if ESPALIER_FORCE_VARIANT=$wrong "$1" >/dev/null 2>"$scratch/errors"; then
            fail "$1 accepts ESPALIER_FORCE_VARIANT=$wrong"
        fi
        grep -q ESPALIER_FORCE_VARIANT "$scratch/errors" || fail "the error does not name the variable"
    done
    load_trees "$1"
}

# Trees that this library was not built with, by a call and by the environment. It knows those of tests/kernels/dispatch/data alone.
load_trees() {
    "$1" "$source/kernels/selectors" >"$scratch/loaded" || fail "$1 does not load the committed trees"
    grep -q '^loaded: smallest_k on nvidia-h200 from .*/smallest_k/nvidia-h200.tree$' "$scratch/loaded" || fail "$1 loads no tree"
    ESPALIER_SELECTORS=$source/kernels/selectors "$1" >"$scratch/loaded"
    grep -q '^loaded: smallest_k on nvidia-h200 ' "$scratch/loaded" || fail "$1 ignores ESPALIER_SELECTORS"
    sed 's/cpu_openmp/cpu_opnemp/' "$source/kernels/selectors/dot/cpu-emeraldrapids-avx2-2t.tree" >"$scratch/dot.tree"
    ESPALIER_SELECTORS=$scratch/dot.tree "$1" >"$scratch/loaded" || fail "$1 stops at a damaged tree"
    grep -q '^ignored: ESPALIER_SELECTORS: .*dot.tree: its checksum' "$scratch/loaded" || fail "$1 says nothing of it"
    if "$1" "$scratch/dot.tree" >/dev/null 2>"$scratch/errors"; then fail "$1 loads a damaged tree"; fi
    grep -q checksum "$scratch/errors" || fail "the error does not name the fault"
}

for kind in static shared; do
    shared=OFF
    [ $kind = shared ] && shared=ON
    build=$scratch-$kind
    rm -rf "$build"
    cmake -S "$source" -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" \
        -DCMAKE_BUILD_TYPE=Release -DBUILD_SHARED_LIBS=$shared -DESPALIER_CUDA=$cuda -DESPALIER_WERROR="$werror" -DESPALIER_HARNESS=OFF \
        -DESPALIER_TESTS=OFF -DESPALIER_SELECTORS_DIR="$source/tests/kernels/dispatch/data/selectors" \
        ${architectures:+"-DCMAKE_CUDA_ARCHITECTURES=$architectures"} >"$scratch/log"
    cmake --build "$build" --parallel 2 >"$scratch/log" || { cat "$scratch/log"; fail "building"; }
    cmake --install "$build" --prefix "$scratch/$kind/first" >"$scratch/log"
    prefix=$scratch/$kind/moved
    mv "$scratch/$kind/first" "$prefix"
    rm -rf "$build"

    check_headers "$prefix"
    [ $kind = shared ] && check_shared "$(echo "$prefix"/lib*/libespalier.so)"
    for file in LICENSE THIRD-PARTY-NOTICES; do
        [ -f "$prefix/share/doc/espalier/$file" ] || fail "$file is not installed"
    done

    cmake -S "$source/tests/kernels/library/consumer" -B "$scratch/$kind/consumer" -G "$generator" \
        -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log"
    cmake --build "$scratch/$kind/consumer" >"$scratch/log" || { cat "$scratch/log"; fail "CMake consumer"; }
    run_consumer "$scratch/$kind/consumer/consumer"
    "$scratch/$kind/consumer/from_c" || fail "the C interface"
    if [ $kind = static ]; then
        "$source/tests/kernels/library/link_test.sh" "$scratch/static/consumer/uses_dot" "$scratch/static/consumer/uses_all" \
            "$scratch/static/consumer/libembeds_dot.so" "$source/kernels/selectors"
    fi
    if cmake -S "$source/tests/kernels/library/consumer" -B "$scratch/$kind/wrong" -G "$generator" -DCOMPONENT=nonsense \
        -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$prefix" >"$scratch/log" 2>&1; then
        fail "find_package accepts a component that there is not"
    fi
    grep -q 'no component nonsense' "$scratch/log" || { cat "$scratch/log"; fail "the message names no component"; }

    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name espalier.pc)")
    export PKG_CONFIG_PATH
    # shellcheck disable=SC2046  # the flags are words
    "$compiler" -std=c++20 "$source/tests/kernels/library/consumer/main.cpp" -o "$scratch/$kind/by_pkg_config" \
        $(pkg-config --cflags --libs espalier) -Wl,-rpath,"$(pkg-config --variable=libdir espalier)"
    run_consumer "$scratch/$kind/by_pkg_config"
done
cat "$scratch/output"
