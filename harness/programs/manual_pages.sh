#!/bin/sh
# Writes the manual pages of the program and of each of its commands by help2man, from their own help.
# Usage: manual_pages.sh <program> <folder>
set -eu
program=$1
folder=$2
version=$("$program" --version)

# page <name> <option...>: help2man takes a page's name from the program's.
page() {
    name=$1
    shift
    ln -sf "$program" "$folder/$name"
    help2man --no-info --name="$("$program" "$@" | head -n 1)" --version-string="$version" --help-option="$*" \
        --output="$folder/$name.1" "$folder/$name"
    rm "$folder/$name"
}

rm -f "$folder"/*.1
page espalier --help
"$program" --help | sed -n '/^Subcommands:/,/^$/p' | awk 'NR > 1 && NF { print $1 }' | while read -r command; do
    page "espalier-$command" "$command" --help
done
