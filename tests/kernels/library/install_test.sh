#!/bin/sh
# Installs the program from a build and uses it where it lies: manual pages, completion, the report's scripts.
# Usage: install_test.sh <build folder> <scratch folder>
set -eu

build=$1
prefix=$2
rm -rf "$prefix"
trap 'rm -rf "$prefix"' EXIT

fail() {
    echo "FAILED: $*" >&2
    exit 1
}

cmake --install "$build" --prefix "$prefix" >/dev/null
program=$prefix/bin/espalier
"$program" --version >/dev/null || fail "the installed program does not run"
[ -f "$prefix/share/espalier/plots/report.py" ] || fail "the report's scripts are missing"

commands=$("$program" --help | sed -n '/^Subcommands:/,/^$/p' | awk 'NR > 1 && NF { print $1 }')
[ "$(echo "$commands" | wc -l)" -ge 16 ] || fail "the help lists too few commands"
pages() {
    for command in $commands; do
        page=$prefix/share/man/man1/espalier-$command.1
        [ -f "$page" ] || fail "$command has no manual page"
        grep -q '^Exit codes: 0 done' "$page" || fail "$page says nothing of exit codes"
        for option in $("$program" "$command" --help | grep -oE '^  (-[a-z],)?--[a-z-]+' | grep -oE -- '--[a-z-]+'); do
            sed 's/\\-/-/g' "$page" | grep -q -- "$option" || fail "$page lacks $option"
        done
        if command -v groff >/dev/null; then
            [ -z "$(groff -man -ww -z "$page" 2>&1)" ] || fail "$page is not clean: $(groff -man -ww -z "$page" 2>&1)"
        fi
    done
}
if command -v help2man >/dev/null; then pages; else echo "manual pages are left out: there is no help2man"; fi
[ -f "$prefix/share/zsh/site-functions/_espalier" ] || fail "there is no completion for zsh"

command -v bash >/dev/null || exit 0
completed() {
    bash -c 'source "$0"; COMP_WORDS=(espalier "$@"); COMP_CWORD=$#; _espalier; echo "${COMPREPLY[*]}"' \
        "$prefix/share/bash-completion/completions/espalier" "$@"
}
expect() {
    wanted=$1
    shift
    [ "$(completed "$@")" = "$wanted" ] || fail "completing '$*' gives '$(completed "$@")', not '$wanted'"
}
expect "show slurm sweep synthesize" s
expect "knn" kn
expect "--metric --memory" knn --me
expect "manhattan" knn --metric man
