#!/usr/bin/env bash
# Adding a variant is adding one file: in a copy of the sources, a new file under variants/ alone gives the variant
# its registry entry, its test and its name; a file whose function is called otherwise fails at link.
#
# usage: add_variant_test.sh SOURCES BUILD_FOLDER GENERATOR CXX_COMPILER WERROR
#
# The copy keeps the baselines alone, so that it builds soon: leaving variants out is removing files.

set -euo pipefail

sources=$1
work=$2
generator=$3
compiler=$4
werror=$5  # ON or OFF, as the sources' own build has it
family=histogram
copy=$work/sources
build=$copy/build/host  # as deep as the sources' own build, whose objects the compiler cache then has if options agree

fail() {
    echo "add_variant_test: $*" >&2
    exit 1
}

rm -rf "$work"
mkdir -p "$copy"
tar -C "$sources" --exclude=./build --exclude=./.git --exclude=./.cuda --exclude=./.cross --exclude=./results \
    --exclude=./report -cf - . |
    tar -C "$copy" -xf -

cd "$copy"
rm -rf kernels/selectors
find variants \( -name '*.cpp' -o -name '*.cu' \) | while read -r file; do
    grep -q 'role = Role::baseline' "$file" || rm "$file"
done

# The new variant: the CPU's baseline under another name, which is no baseline.
example=variants/$family/cpu_example.cpp
baseline=$(grep -l 'role = Role::baseline' variants/$family/*.cpp)
name=$(basename "$baseline" .cpp)
sed -e "s/\b$name\b/cpu_example/g" -e 's/Role::baseline/Role::documented/' "$baseline" >"$example"

cmake -S . -B "$build" -G "$generator" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release -DESPALIER_CUDA=OFF \
    -DESPALIER_WERROR="$werror" >"$work/configure.log" 2>&1 || { cat "$work/configure.log"; fail "the copy does not configure"; }
cmake --build "$build" --parallel 2 --target variants_test >"$work/build.log" 2>&1 ||
    { tail -n 40 "$work/build.log"; fail "a new file under variants/ does not build"; }

test=EveryVariant.MatchesTheOracleOnEveryEdgeCase/${family}_cpu_example
"$build/tests/variants_test" --gtest_filter="*$test" >"$work/test.log" 2>&1 ||
    { cat "$work/test.log"; fail "the new variant fails its test"; }
grep -qF "[       OK ] Variants/$test" "$work/test.log" ||
    { cat "$work/test.log"; fail "the new variant has no test of its own"; }

# The same file, but its function is not named after it.
mv "$example" variants/$family/cpu_misnamed.cpp
if cmake --build "$build" --parallel 2 --target variants_test >"$work/misnamed.log" 2>&1; then
    fail "a file whose function is called otherwise builds"
fi
grep -qE "undefined (reference to|symbol:) .*$family::cpu_misnamed" "$work/misnamed.log" ||
    { tail -n 40 "$work/misnamed.log"; fail "the failure of a misnamed file does not name it"; }
echo "add_variant_test: one file added $family/cpu_example with its test; a misnamed one failed at link"
