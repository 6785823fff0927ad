#!/usr/bin/env python3
"""Prints a timeline of `espalier --timeline FILE` as text: ranges indented by how they nest, kernels and copies by when
they ran, equal ones in a row as one line.

usage: scripts/timeline.py FILE [lines]
"""

import json
import sys


def events(path):
    with open(path, encoding="utf-8") as file:
        lines = (line.strip().rstrip(",") for line in file)
        return [json.loads(line) for line in lines if line.startswith("{")]


def row(event, depth, times, total):
    launch = event.get("args", {})
    kernel = "  {blocks} x {threads}, {registers} registers".format(**launch) if event["cat"] == "kernel" else ""
    name = event["name"].split("(")[0] if event["cat"] == "kernel" else event["name"]
    return (f"{event['from'] / 1e3:10.3f} ms {total:12.1f} us  {'| ' * depth}{event['cat'] + ' ' if event['cat'] != 'range' else ''}"
            f"{name[:100]}{f' x {times}' if times > 1 else ''}{kernel}")


def rows(found):
    """Of each track: an event is below those that have not ended when it begins."""
    begin = min(event["ts"] for event in found)
    open_ends, last = {}, None  # the ends of what is open by track; event, depth, times, microseconds
    for event in sorted(found, key=lambda one: (one["ts"], -one["dur"])):
        event["from"] = event["ts"] - begin
        ends = open_ends.setdefault((event["pid"], event["tid"]), [])
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        same = last and (last[0]["cat"], last[0]["name"], last[1]) == (event["cat"], event["name"], len(ends))
        if same:
            last = (last[0], last[1], last[2] + 1, last[3] + event["dur"])
        else:
            if last:
                yield row(*last)
            last = (event, len(ends), 1, event["dur"])
        if event["dur"] > 0:
            ends.append(event["ts"] + event["dur"])
    if last:
        yield row(*last)


def main():
    found = [event for event in events(sys.argv[1]) if event["ph"] == "X"]
    for number, text in enumerate(rows(found) if found else []):
        if len(sys.argv) > 2 and number >= int(sys.argv[2]):
            break
        print(text)


if __name__ == "__main__":
    main()
