"""Which measurement stands beside which printed table: the parameters of `espalier sweep --suite published`, as data."""

from like_for_like import Compared, Computed, Line, Table

SQUARE = "missing=none;points=10000;queries=10000"
DIMS = "dims={x}"
N_BY_N = "points={x};queries={x}"
OUR_DIMS = "The source does not say how many attributes its items had: ours have K12's 50."
KNN = "classes=10;dims=50;k=10;missing=none;task=classification;vote=majority"
PLACEMENTS = {"CPU-CPU": "gpu_distance=0;gpu_sort=0", "GPU-CPU": "gpu_distance=1;gpu_sort=0",
              "CPU-GPU": "gpu_distance=0;gpu_sort=1", "GPU-GPU": "gpu_distance=1;gpu_sort=1"}
CPU = "CPU"  # the name that lines have for the other device


COUNTED_ON = ("Counts cannot be compared with the printed ones as they stand: on how many of its card's multiprocessors the "
              "source's profiler counted is not on record.")


def allowed_occupancy(dims, device: dict) -> float:
    """Of shared_load_all by its shared memory: blocks of 256 threads, 2 x 16 items, 1 KiB for the system."""
    most = device["max_threads_per_sm"] // 256
    return min(most, device["shared_per_sm"] // (2 * 16 * int(dims) * 4 + 1024)) / most


def each(variants, *quantities, own: str = "") -> tuple[Line, ...]:
    return tuple(Line(variant, quantity, own) for quantity in quantities for variant in variants)


def occupancy(identity: str) -> Table:
    return Table(
        identity, "distance", f"metric=mixed_euclidean;{SQUARE}", DIMS,
        (Computed("`shared_load_all`: occupancy that its shared memory allows", allowed_occupancy),
         Line("shared_load_all", "occupancy reached, %"), Line("shared_load_all", "ms"), Line("shared_load_tile", "ms"),
         Compared("`shared_load_all` faster than `shared_load_tile` by", 3, 2, percent=True)),
        remark="Its 2 x 16 items of dims attributes take 128 x dims bytes of shared memory, of which Fermi had 48 KiB.")


def missing_values(identity: str, metric: str, variant: str, configuration: str = "") -> Table:
    own = f"missing={{}};{configuration}".rstrip(";")
    return Table(
        identity, "distance", f"dims=50;metric={metric}", N_BY_N,
        (Line(variant, "ms", own.format("none")), Line(variant, "ms", own.format("allowed")),
         Compared("overhead of the check", 1, 0, percent=True)),
        remark=OUR_DIMS)


def overlap(identity: str, metric: str) -> Table:
    lines = tuple(Line(variant, "ms", own) for chunks in (8, 32)
                  for variant, own in (("asynchronous", f"chunks={chunks}"), ("synchronous", f"chunks={chunks};pinned=1"),
                                       ("synchronous", f"chunks={chunks};pinned=0")))
    gains = tuple(Compared(f"gain of `asynchronous`, {chunks} chunks, page-locked memory in both", at + 1, at, percent=True)
                  for at, chunks in ((0, 8), (3, 32)))
    return Table(identity, "knn", f"{KNN};metric={metric};queries_in=host", N_BY_N, lines + gains,
                 remark="The whole pipeline, queries in host memory, as many chunks on either side. " + OUR_DIMS)


def whole_knn(identity: str) -> Table:
    return Table(
        identity, "knn", f"{KNN};metric=mixed_euclidean", N_BY_N,
        (Line("asynchronous", "s", "chunks=8;queries_in=host"), Line("two_stage", "s", "queries_in=host"),
         Line("fused_tile", "s", "queries_in=host"),
         Line("cpu_two_stage", "s", "budget_mib=64;queries_in=device", CPU),
         Compared("speedup of `asynchronous` over the CPU", 3, 0), Compared("speedup of `fused_tile` over the CPU", 3, 2)),
        ((0, 0),),
        "Ours are 50 attributes of mixed kinds, k = 10 and ten classes. A CPU's queries are in its memory, which its rows "
        "call queries_in=device.")


def kinds_of_answer() -> Table:
    columns = {f"{vote}, {task}": f"task={task};vote={vote}" for task in ("classification", "regression")
               for vote in ("majority", "distance_weighted")}
    return Table("K-5.4", "knn", "classes=10;dims=50;k=10;metric=euclidean;points=10000;queries=10000;queries_in=device",
                 columns, (Line("two_stage", "ms", "budget_mib=1024;missing=none"),
                           Line("two_stage", "ms", "budget_mib=1024;missing=allowed"),
                           Compared("overhead of the check", 1, 0, percent=True)),
                 title="Weighted vote, regression and missing values: described, without printed figures",
                 own_columns=tuple(columns))


def p1() -> Table:
    sizes = [2**e for e in range(10, 19)]
    lines = tuple(Line("enumeration_sort", "ms", f"points={n}") for n in sizes)
    return Table("P1", "knn", "classes=10;dims=2;k=10;metric=euclidean;missing=none;queries=1;queries_in=host;"
                 "task=classification;vote=majority", PLACEMENTS, lines, remark="One query.")


def p1_speedups(table: Table) -> list[Table]:
    """The curves of the paper over n: speedups over CPU-CPU."""
    sizes = [2**e for e in range(10, 19)]
    lines = tuple(Line("enumeration_sort", "ms", of) for of in PLACEMENTS.values())
    ratios = tuple(Compared(f"speedup of {name} over CPU-CPU", 0, at) for at, name in enumerate(PLACEMENTS) if at)
    return [Table("P-curves", "knn", table.parameters, "points={x}", lines + ratios,
                  title="The same by the number of points", own_columns=tuple(sizes))]


def selection(identity: str, title: str, variants: tuple[tuple[str, str], ...], ks: tuple[int, ...]) -> Table:
    lines = tuple(Line(variant, "ms", own) for variant, own in variants)
    names = [f"`{variant}`" + (f" with `{own}`" if own else "") for variant, own in variants]
    ratios = tuple(Compared(f"{name} over {names[0]}", at, 0) for at, name in enumerate(names) if at)
    return Table(identity, "smallest_k", "columns=10000;rows=10000", "k={x}", lines + ratios,
                 remark="The figure's axes are not on record here.", title=title, own_columns=ks)


def tables() -> list[Table]:
    euclidean, mixed = f"metric=euclidean;{SQUARE}", f"metric=mixed_euclidean;{SQUARE}"
    pair = ("global", "shared_load_tile")
    both = ("shared_load_all", "shared_load_tile")
    garcia = ("garcia_shared", "shared_load_tile", "texture_1d_shared_tile")
    plugins = ("one_warp_partials", "one_warp_shares", "global_uncoalesced", "garcia_texture_2d", "garcia_shared", "global",
               "texture_1d_shared_tile")
    registers = ("register_insertion", "block=256;texture=0")
    distributions = {"uniform": "distribution=uniform", "zipf": "distribution=zipf", "constant": "distribution=constant"}
    one_query = p1()
    return [
        Table("K1", "distance", euclidean, DIMS,
              each(pair, "ms", "GB/s of DRAM") + (Compared("`shared_load_tile`: speedup over `global`", 0, 1),)),
        Table("K2", "distance", mixed, DIMS, each(both, "ms", "GB/s of DRAM", "warp instructions"),
              remark=COUNTED_ON),
        occupancy("K3"), occupancy("K4"),
        Table("K5", "distance", euclidean, DIMS,
              each(("garcia_shared", "shared_load_tile"), "bank conflicts, thousand") + each(garcia, "ms")
              + (Compared("`texture_1d_shared_tile` faster than `garcia_shared` by", 2, 4, percent=True),),
              remark=COUNTED_ON),
        Table("K6", "distance", euclidean, DIMS, each(garcia, "ms"), ((0, 0), (1, 1), (2, 2))),
        missing_values("K7", "euclidean", "texture_1d_shared_tile"),
        missing_values("K8", "mixed_euclidean", "texture_1d", "texture_types=0"),
        overlap("K9", "euclidean"), overlap("K10", "mixed_euclidean"),
        Table("K11", "distance", "dims=50;metric=mixed_euclidean;missing=none", N_BY_N,
              (Line("texture_1d", "ms", "texture_types=1"), Line("texture_1d", "ms", "texture_types=0"),
               Compared("overhead of types in texture", 0, 1, percent=True)),
              remark=OUR_DIMS),
        whole_knn("K12"), whole_knn("K13"),
        Table("K-3.2", "distance", euclidean, DIMS, each(plugins, "ms"), title="The plugins before the thesis' (its "
              "section 3.2), beside its own", own_columns=(10, 50, 110),
              remark="The source calls the plugin's reads uncoalesced and does not say how attributes are dealt out: "
                     "`one_warp_partials` takes turns, `one_warp_shares` neighbouring ones."),
        selection("K-fig8", "Selection in registers against sorting (figure 8)",
                  (registers, ("register_insertion", "block=256;texture=1"), ("radix_sort_rows", ""),
                   ("segmented_radix_sort", "")), (1, 5, 8, 10, 15, 21)),
        selection("K-fig9", "Selection in registers against lists in memory (figure 9)",
                  (registers, ("global_insertion", ""), ("local_insertion", "")), (1, 5, 8, 10, 15, 21)),
        selection("K-5.3", "Lists in shared memory", (registers, ("shared_insertion", "")), (1, 5, 8)),
        kinds_of_answer(),
        Table("H1", "histogram", "blocks_per_sm=2;bytes=104857600;distribution=uniform",
              {"included": "", "excluded": ""}, (Line("shared_atomics", "ms", by_column={"included": "ms with transfers"}),),
              ((0, 0),), "Transfers are pageable copies of the bytes and of the bins."),
        Table("H-exercise", "histogram", "bytes=104857600", distributions,
              (Line("shared_atomics", "ms", "blocks_per_sm=2"), Line("global_atomics", "ms")),
              title="The tutorial's exercise: does the run time change with the data?", own_columns=tuple(distributions)),
        Table("H-dot", "dot", "", "elements={x}",
              (Line("host_finish", "ms", "blocks_per_sm=8"), Line("atomic_float", "ms", "blocks_per_sm=8"),
               Compared("`host_finish` over `atomic_float`", 0, 1)),
              remark="The vectors' lengths are not on record here.",
              title="The tutorial's exercise: an inner product, whose partial sums the host or an atomic adds up",
              own_columns=(1 << 16, 1 << 20, 1 << 24, 1 << 28)),
        one_query, *p1_speedups(one_query)]


SUMMED = "output=maximum;sources=1000;span=512"
WINDOWS = (1000, 5000, 10000, 12000, 15000, 20000, 50000, 100000, 200000)


def coherence_tables() -> list[Table]:
    variants = {name: name for name in ("shared_hodograph", "global_cached")} | {"random_order": "shuffled_order"}
    return [
        Table("S1", "coherent_sum", f"receivers=1920;samples=15000;{SUMMED}",
              {f"coherent_sum/{variant}": f"variant={ours}" for variant, ours in variants.items()},
              (Line("", "million sums/s"), Line("", "L1 hits, %"), Line("", "sectors read from L2, billion"),
               Line("", "GB read from DRAM"), Line("", "ms")),
              remark="A sum is one s_j(k) over all receivers. The source names neither window nor trial sources: S2's "
              "window, and 1,000. Its random order is `shuffled_order`, a permutation of the samples as good as random."),
        Table("S4", "coherent_sum", SUMMED, "receivers={x}",
              tuple(Line("global_cached", "G additions/s", f"samples={samples}") for samples in WINDOWS),
              remark="The source does not say how many trial sources it had: ours are 1,000."),
        Table("S-sums", "coherent_sum", "receivers=1920;samples=15000;sources=1000;span=512",
              {"the maximum": "output=maximum", "all sum traces": "output=sums"}, (Line("global_cached", "ms"),),
              title="Keeping all sum traces instead of their maximum",
              own_columns=("the maximum", "all sum traces")),
        Table("S-carve-out", "coherent_sum", f"receivers=1920;samples=15000;{SUMMED};variant=global_carved",
              {f"{percent}%": f"shared_percent={percent}" for percent in (0, 50, 100)},
              (Line("", "ms"), Line("", "L1 hits, %"), Line("", "sectors read from L2, billion")),
              remark="The driver is asked to keep so much of a multiprocessor's L1 memory as shared memory, which this "
              "variant does not use.", title="L1 or shared memory preferred", own_columns=("0%", "50%", "100%")),
        Table("S5", "coherent_sum", "block=256;output=maximum;receivers=1920;samples=15000;span=512",
              {"GTX 460 SE": "sources=15625", "Tesla K20": "sources=27000"},
              (Line("global_cached", "s"), Line("global_cached", "real-time factor at 500 Hz")),
              remark="The source's variant, kernels only, on the largest grid of each card."),
    ]


def lab_tables() -> list[Table]:
    """The convolution lab's section 2, on its image padded with zeros."""
    variants = ("global", "shared_u8_int", "shared_u8_float", "shared_float", "shared_float_padded", "shared_float_32x8",
                "shared_vectorised")
    columns = {"global": "variant=global"}
    columns |= {f"global_blocks, 32 x {rows}": f"rows={rows};variant=global_blocks" for rows in (16, 32)}
    columns |= {variant: f"variant={variant}" for variant in variants[1:] if variant != "shared_float_padded"}
    columns |= {f"shared_float_padded, {words} words": f"padding={words};variant=shared_float_padded" for words in (5, 20)}
    quantities = ("µs", "DRAM, % of peak", "SM, % of peak", "cycles with an issue, %", "ALU pipe, %", "FMA pipe, %",
                  "XU pipe, %", "wavefronts of shared memory per value", "of them bank conflicts, %", "L1 hits, %")
    image = "border=zero;channels=3;coefficients=narrow;height=3744;width=4992"
    on_cpu = tuple(f"cpu_{name}" for name in ("scalar", "openmp_rows", "openmp_columns", "avx2_int16", "avx2_float",
                                              "avx2_int16_preconverted", "avx2_float_preconverted", "avx2_int16_shuffle"))
    return [Table("C-2", "convolution_2d", image, columns, tuple(Line("", quantity) for quantity in quantities),
                  title="The lab's image on the GPU", own_columns=tuple(columns)),
            Table("C-1", "convolution_2d", image, {variant: f"variant={variant}" for variant in on_cpu}, (Line("", "ms"),),
                  title="The lab's image on the CPU", own_columns=on_cpu)]
