"""The house: its rooms and which rooms each may include of. docs/rooms.md shows the same table as a picture."""

# Rooms and the rooms that they may include of. The longest room that fits a path counts; within itself every room may.
INTERFACE = ["espalier", "kernels/core"]
STORED = INTERFACE + ["kernels/json"]
GROUND = INTERFACE + ["kernels/device", "kernels/problems"]
LIBRARY = ["kernels", "espalier", "registries"]
BASE = ["harness/base"]
PROFILE = GROUND + ["kernels/json"] + BASE + ["harness/bench/profile"]
RECORDED = PROFILE + ["harness/bench/families", "harness/bench/records"]
SWEEP = "harness/bench/sweep"
MAY_INCLUDE = {
    "kernels/include": ["espalier"],
    "kernels/core": ["espalier"],
    "kernels/json": INTERFACE,
    "kernels/device": INTERFACE,
    "kernels/problems": INTERFACE,
    "kernels/dispatch": GROUND + ["kernels/json", "registries"],
    "kernels/tables": ["kernels/core", "kernels/json", "kernels/dispatch"],
    "kernels/api": GROUND + ["kernels/json", "kernels/dispatch", "registries"],
    "variants": GROUND,
    "reference_cpu": GROUND,
    "harness/base": STORED + ["kernels/device"],
    "harness/emulator": INTERFACE + ["kernels/device"] + BASE,
    "harness/bench/profile": INTERFACE + ["kernels/device"] + BASE,
    "harness/bench/families": PROFILE + ["kernels/dispatch", "reference_cpu"],  # a composed family chooses its stages
    "harness/bench/records": PROFILE + ["harness/bench/families"],
    "harness/bench/sweep/plan": RECORDED,
    "harness/bench/sweep/record": RECORDED + [f"{SWEEP}/plan"],
    "harness/bench/sweep/worker": RECORDED + [f"{SWEEP}/plan", f"{SWEEP}/record"],
    "harness/bench/sweep/schedule": RECORDED + [SWEEP],
    "harness/bench/compare": RECORDED + [SWEEP],
    "harness/bench/learn": LIBRARY + ["harness/bench/families"],
    "harness/bench/evidence": RECORDED + [SWEEP, "harness/bench/learn"],
    "harness/bench/emit": RECORDED + ["kernels/dispatch", "harness/bench/learn", "harness/bench/evidence"],
    "harness/bench/train": RECORDED + ["kernels/dispatch"] + [
        f"harness/bench/{room}" for room in ("learn", "evidence", "emit")],
    "harness/bench/judge": RECORDED + ["kernels/dispatch"] + [f"harness/bench/{room}" for room in ("learn", "emit")],
    "harness/bench/report": RECORDED + ["harness/bench/judge"],
    "harness/bench/tune": RECORDED + [SWEEP, "harness/bench/learn"],
    "harness/bench/peers": LIBRARY + ["variants", "harness/bench/families"],
    "harness/apps/io": ["espalier"] + BASE,
    "harness/apps/tables": ["espalier", "harness/apps/io"] + BASE,
    "harness/apps/images": ["espalier", "harness/apps/io"] + BASE,
    "harness/apps/seismic": ["espalier", "kernels/json", "harness/apps/io", "harness/apps/tables"] + BASE,
    "harness/apps/sessions": ["espalier", "harness/apps"] + BASE,
    "harness/cli": LIBRARY + BASE + ["harness/apps"] + [f"harness/bench/{room}" for room in (
        "profile", "families", "records", "report", "sweep", "compare", "learn", "evidence", "emit", "train", "judge", "tune")],
    "harness/programs": LIBRARY + ["harness"],
}
# What the sessions take of the library's inside, because its public headers have nothing that would do: page-locked
# memory, streams and their clocks; votes and delays that agree with the library's to the last bit; rows of a filter.
INSIDE = {
    "harness/apps/sessions/gpu_coherence_pipeline.cpp": ["kernels/api/device_state.hpp", "kernels/device/runtime.hpp"],
    "harness/apps/sessions/image_filter.cpp": ["kernels/api/device_state.hpp"],
    "harness/apps/sessions/knn_votes.cpp": ["kernels/api/exact_vote.hpp"],
    "harness/apps/sessions/locate_session.cpp": ["kernels/api/device_state.hpp", "kernels/device/runtime.hpp",
                                                 "kernels/problems/travel_time.hpp"],
    "harness/apps/sessions/weigh_by_alpha.cpp": ["kernels/api/row_filter.hpp"],
}


def floors() -> dict[str, set[str]]:
    """For the picture: each room with those that it stands on, without the ones that those stand on already. A room that
    may include of a whole storey stands on each room of it."""
    rooms = [room for room in MAY_INCLUDE if not room.endswith("programs")]
    below = {}
    for room in rooms:
        named = [{"espalier": "kernels/include", "registries": "kernels/dispatch"}.get(one, one) for one in MAY_INCLUDE[room]]
        below[room] = {other for other in rooms for one in named
                       if (other == one or other.startswith(one + "/")) and other != room and not room.startswith(other + "/")}
    everything = {room: reached(room, below) for room in rooms}
    return {room: {one for one in below[room] if not any(one in everything[other] for other in below[room] if other != one)}
            for room in rooms}


def reached(room: str, below: dict[str, set[str]]) -> set[str]:
    found, open_ = set(), [room]
    while open_:
        for one in below[open_.pop()] - found:
            found.add(one)
            open_.append(one)
    return found


def picture() -> str:
    """The floors as a Mermaid flow chart: an arrow from a room to each that it stands on."""
    below_each, storeys = floors(), {}
    for room in below_each:
        storeys.setdefault(storey(room), []).append(room)
    lines = ["```mermaid", "flowchart TD"]
    for name, rooms in reversed(storeys.items()):
        lines.append(f'    subgraph {identity(name)}["{name}/"]')
        lines += [f'        {identity(room)}["{room.removeprefix(name).strip("/") or name}"]' for room in rooms]
        lines.append("    end")
    for room, below in below_each.items():
        lines += [f"    {identity(room)} --> {identity(one)}" for one in sorted(below)]
    return "\n".join([*lines, "```"])


def storey(room: str) -> str:
    parts = room.split("/")
    return "/".join(parts[:2]) if parts[0] == "harness" and len(parts) > 2 else parts[0]


def identity(room: str) -> str:
    return room.replace("/", "_")
