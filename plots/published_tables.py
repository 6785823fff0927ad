"""Which measurement stands beside which printed table: the parameters of `espalier sweep --suite published`, as data."""

import dataclasses

from like_for_like import Compared, Computed, Line, Share, Table

SQUARE = "missing=none;points=10000;queries=10000"
DIMS = "dims={x}"
N_BY_N = "points={x};queries={x}"
OUR_DIMS = "The source does not say how many attributes its items had: ours have K12's 50."
KNN = "classes=10;dims=50;k=10;missing=none;task=classification;vote=majority"
PLACEMENTS = {"CPU-CPU": "gpu_distance=0;gpu_sort=0", "GPU-CPU": "gpu_distance=1;gpu_sort=0",
              "CPU-GPU": "gpu_distance=0;gpu_sort=1", "GPU-GPU": "gpu_distance=1;gpu_sort=1"}
CPU = "CPU"  # the name that lines have for the other device
ONE_THREAD = "one thread"  # and for the same CPU, of which one thread was measured


COUNTED_ON = ("Counts cannot be compared with the printed ones as they stand: the profilers of compute capability 1.x counted "
              "on some of a card's multiprocessors only.")
BY_SECTORS = ("The source's bandwidths are of what its kernels ask for, which caches of today answer: sectors read from L1 are "
              "the like of it.")
# cuobjdump --dump-resource-usage of distance/shared_load_all for compute capability 9.0.
REGISTERS = 56


def allowed_occupancy(dims, device: dict) -> float:
    """Of shared_load_all by its shared memory: blocks of 256 threads, 2 x 16 items, 1 KiB for the system."""
    most = device["max_threads_per_sm"] // 256
    return min(most, device["shared_per_sm"] // (2 * 16 * int(dims) * 4 + 1024)) / most


def allowed_by_registers(dims, device: dict) -> float:
    """The same by its registers, which are dealt out to whole blocks."""
    most = device["max_threads_per_sm"] // 256
    return min(most, device["registers_per_sm"] // (REGISTERS * 256)) / most


def each(variants, *quantities, own: str = "") -> tuple[Line, ...]:
    return tuple(Line(variant, quantity, own) for quantity in quantities for variant in variants)


def occupancy(identity: str) -> Table:
    return Table(
        identity, "distance", f"metric=mixed_euclidean;{SQUARE}", DIMS,
        (Computed("`shared_load_all`: occupancy that its shared memory allows", allowed_occupancy),
         Computed(f"`shared_load_all`: occupancy that its {REGISTERS} registers a thread allow", allowed_by_registers),
         Line("shared_load_all", "occupancy reached, %"), Line("shared_load_all", "ms"), Line("shared_load_tile", "ms"),
         Compared("`shared_load_all` faster than `shared_load_tile` by", 4, 3, percent=True)),
        on_page=(1, 2, 5),
        remark="Its 2 x 16 items of dims attributes take 128 x dims bytes of shared memory, of which Fermi had 48 KiB. The "
        "smaller of the two is the limit: where shared memory allows more, it is the registers.")


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
    return Table(identity, "knn", f"{KNN};metric={metric};queries_in=host", N_BY_N, lines + gains, on_page=(0, 1, 6, 7),
                 remark="The whole pipeline, queries in host memory, as many chunks on either side. " + OUR_DIMS)


def whole_knn(identity: str, distance: str, on_page: tuple[int, ...] = (0, 1, 3, 4, 5, 7)) -> Table:
    own = f"chunks=8;distance.{distance}=1;queries_in=host;smallest_k.register_insertion=1"
    return Table(
        identity, "knn", f"{KNN};metric=mixed_euclidean", N_BY_N,
        (Line("asynchronous", "s", own), Line("asynchronous", "s", "chunks=8;queries_in=host"),
         Line("two_stage", "s", "queries_in=host"),
         Line("fused_tile", "s", "queries_in=host"),
         Line("cpu_two_stage", "s", "budget_mib=64;queries_in=device", CPU),
         Compared("speedup of `asynchronous` with the thesis' stages over the CPU", 4, 0),
         Compared("speedup of `asynchronous` over the CPU", 4, 1), Compared("speedup of `fused_tile` over the CPU", 4, 3)),
        ((0, 0), (1, 0)),
        "The first line has the stages that the thesis' tree chooses on the card, and lists in registers; the library chooses "
        "those of the others. Ours are 50 attributes of mixed kinds, k = 10 and ten classes. A CPU's queries are in its memory, which its rows "
        "call queries_in=device.", on_page=on_page)


def kinds_of_answer() -> Table:
    columns = {f"{vote}, {task}": f"task={task};vote={vote}" for task in ("classification", "regression")
               for vote in ("majority", "distance_weighted")}
    return Table("K-5.4", "knn", "classes=10;dims=50;k=10;metric=euclidean;points=10000;queries=10000;queries_in=device",
                 columns, (Line("two_stage", "ms", "budget_mib=1024;missing=none"),
                           Line("two_stage", "ms", "budget_mib=1024;missing=allowed"),
                           Compared("overhead of the check", 1, 0, percent=True)),
                 title="Weighted vote, regression and missing values",
                 own_columns=tuple(columns))


def p1() -> Table:
    sizes = [2**e for e in range(10, 19)]
    lines = tuple(Line("enumeration_sort", "ms", f"points={n}") for n in sizes)
    return Table("P1", "knn", "classes=10;dims=2;k=10;metric=euclidean;missing=none;queries=1;queries_in=host;"
                 "task=classification;vote=majority", PLACEMENTS, lines, remark="One query.", on_page=(0, 7))


def p1_speedups(table: Table) -> list[Table]:
    """The curves of the paper over n: speedups over CPU-CPU."""
    sizes = [2**e for e in range(10, 19)]
    lines = tuple(Line("enumeration_sort", "ms", of) for of in PLACEMENTS.values())
    copied = tuple(Line("enumeration_sort", "ms with transfers", of) for of in PLACEMENTS.values())
    ratios = tuple(Compared(f"speedup of {name} over CPU-CPU{what}", first, first + at)
                   for first, what in ((0, ""), (4, ", transfers included in both")) for at, name in enumerate(PLACEMENTS) if at)
    return [Table("P-curves", "knn", table.parameters, "points={x}", lines + copied + ratios,
                  remark="The time itself has what a query needs, whose distances, lists and answer cross to where the next "
                  "stage is. Transfers are of points and classes to the device, which a CPU does not need, and of the "
                  "answers, from pageable memory: the source does not say which of them its times have.",
                  title="The same by the number of points", own_columns=tuple(sizes), suite="P1", on_page=(0, 3, 8, 9, 10, 13))]


def techniques(identity: str, metric: str) -> Table:
    lines = tuple(Line(variant, "ms", own) for variant, own in (
        ("shared_load_tile", ""), ("shared_load_all", ""), ("texture_1d", "texture_types=0"), ("texture_2d", ""), ("global", ""),
        ("texture_1d_shared_tile", "")))
    return Table(identity, "distance", f"dims=50;metric={metric};missing=none;points=100000", "queries={x}", lines,
                 title=f"Six techniques by the size of the test set, {metric.replace('_', ' ')} (diagrams 5 to 7)",
                 remark="Ours are 100,000 points of K12's 50 attributes.", own_columns=(1, 100, 1000, 10000, 100000))


def hidden() -> Table:
    return Table(
        "K-diagram10", "knn", f"{KNN};metric=euclidean;points=10000", "queries={x}",
        (Line("asynchronous", "ms", "chunks=8;queries_in=host"), Line("synchronous", "ms", "chunks=8;pinned=1;queries_in=host"),
         Line("two_stage", "ms", "budget_mib=1024;queries_in=device"),
         Share("hidden of the time that could be hidden", 0, 1, 2)),
        title="Hidden over hideable time, a training set of 10,000 (diagram 10)", own_columns=(5000, 10000, 50000, 100000),
        remark="Hideable: what `synchronous` takes longer from the host's memory, eight chunks one after the other, than "
        "`two_stage` with the queries on the device. Hidden: what `asynchronous` saves of it.")


def selections(number: int, title: str, variants: tuple[tuple[str, str], ...], ks: tuple[int, ...]) -> list[Table]:
    """A diagram of the thesis', on its rows of 90,000 and on K6's of 10,000."""
    return [dataclasses.replace(selection(f"K-diagram{number}{suffix}", f"{title} (diagram {number})", variants, ks),
                                parameters=f"columns={columns};rows={rows}", suite=f"K-diagram{number}",
                                on_page=tuple(range(number - 8, len(variants))))  # the second repeats the first's own line
            for suffix, columns, rows in (("", 90000, 1000), ("-square", 10000, 10000))]


def sorts() -> Table:
    on_gpu = (("register_insertion", "block=256;texture=0"), ("bitonic_sort_rows", ""), ("block_rank_merge", ""),
              ("rank_sort", ""))
    return Table("K-sorts", "smallest_k", "columns=10000;rows=1000", "k={x}",
                 tuple(Line(variant, "ms", own) for variant, own in on_gpu)
                 + tuple(Line(variant, "ms", "", CPU) for variant in ("cpu_scalar", "cpu_openmp")),
                 title="Other sorts of the sources (K 3.2.1, 3.2.3; P 4)", own_columns=(10,))


def whole_plugins() -> Table:
    return Table("K-3.2.3", "knn", f"{KNN};metric=euclidean;queries_in=host", N_BY_N,
                 (Line("tile_rank", "ms"), Line("two_stage", "ms", "budget_mib=1024"), Line("fused_tile", "ms"),
                  Compared("`tile_rank` over `fused_tile`", 0, 2)),
                 title="The plugin that the thesis calls the most competitive, as a whole", own_columns=(1000, 10000))


def placements() -> Table:
    lines = tuple(Line("placement", "ms", f"gpu_distance={d};gpu_selection={s};gpu_vote={v}")
                  for d in (0, 1) for s in (0, 1) for v in (0, 1))
    return Table("K-placement", "knn", f"{KNN};metric=euclidean;queries_in=host", N_BY_N, lines,
                 title="Each stage on the CPU or on the GPU (K 3.2.2, 5.4)", own_columns=(1000, 5000))


def on_cpu() -> Table:
    return Table("K-cpu", "distance", "dims=50;metric=mixed_euclidean;missing=none", N_BY_N,
                 tuple(Line(variant, "ms", "", CPU) for variant in ("cpu_scalar", "cpu_openmp")),
                 title="The matrix alone on the CPU", own_columns=(1000, 5000))


def selection(identity: str, title: str, variants: tuple[tuple[str, str], ...], ks: tuple[int, ...]) -> Table:
    lines = tuple(Line(variant, "ms", own) for variant, own in variants)
    names = [f"`{variant}`" + (f" with `{own}`" if own else "") for variant, own in variants]
    ratios = tuple(Compared(f"{name} over {names[0]}", at, 0) for at, name in enumerate(names) if at)
    return Table(identity, "smallest_k", "", "k={x}", lines + ratios, title=title, own_columns=ks,
                 on_page=tuple(range(len(lines))))


# Long: a list, an entry a table.
def tables() -> list[Table]:
    euclidean, mixed = f"metric=euclidean;{SQUARE}", f"metric=mixed_euclidean;{SQUARE}"
    pair = ("global", "shared_load_tile")
    both = ("shared_load_all", "shared_load_tile")
    garcia = ("garcia_shared", "shared_load_tile", "texture_1d_shared_tile")
    plugins = ("one_warp_partials", "one_warp_shares", "shared_tile_uncoalesced", "global_uncoalesced", "garcia_texture_2d",
               "garcia_shared", "global", "texture_1d_shared_tile")
    registers = ("register_insertion", "block=256;texture=0")
    distributions = {"uniform": "distribution=uniform", "zipf": "distribution=zipf", "constant": "distribution=constant"}
    one_query = p1()
    return [
        Table("K1", "distance", euclidean, DIMS,
              each(pair, "ms", "GB/s of sectors read from L1", "GB/s of DRAM")
              + (Compared("`shared_load_tile`: speedup over `global`", 0, 1),), remark=BY_SECTORS, on_page=(2, 3, 6)),
        Table("K2", "distance", mixed, DIMS, each(both, "ms", "GB/s of DRAM", "warp instructions"),
              remark=COUNTED_ON, on_page=(4, 5)),
        occupancy("K3"), occupancy("K4"),
        Table("K5", "distance", euclidean, DIMS,
              each(("garcia_shared", "shared_load_tile"), "bank conflicts, thousand") + each(garcia, "ms")
              + (Compared("`texture_1d_shared_tile` faster than `garcia_shared` by", 2, 4, percent=True),),
              remark=COUNTED_ON, on_page=(0, 1, 5)),
        Table("K6", "distance", euclidean, DIMS, each(garcia, "ms"), ((0, 0), (1, 1), (2, 2))),
        missing_values("K7", "euclidean", "texture_1d_shared_tile"),
        missing_values("K8", "mixed_euclidean", "texture_1d", "texture_types=0"),
        overlap("K9", "euclidean"), overlap("K10", "mixed_euclidean"),
        Table("K11", "distance", "dims=50;metric=mixed_euclidean;missing=none", N_BY_N,
              (Line("texture_1d", "ms", "texture_types=1"), Line("texture_1d", "ms", "texture_types=0"),
               Compared("overhead of types in texture", 0, 1, percent=True)),
              remark=OUR_DIMS),
        whole_knn("K12", "shared_load_all"), whole_knn("K13", "texture_1d", (0, 5)),
        Table("K-3.2", "distance", euclidean, DIMS, each(plugins, "ms"), title="The plugins before the thesis' (its "
              "section 3.2), beside its own", own_columns=(10, 50, 110),
              remark="The source calls the plugin's reads uncoalesced and does not say how attributes are dealt out: "
                     "`one_warp_partials` takes turns, `one_warp_shares` neighbouring ones."),
        techniques("K-diagram5-7", "euclidean"), techniques("K-diagram5-7-mixed", "mixed_euclidean"),
        *selections(8, "Selection in registers against sorting",
                    (registers, ("register_insertion", "block=256;texture=1"), ("radix_sort_rows", ""),
                     ("segmented_radix_sort", "")), (1, 5, 8, 10, 15, 21)),
        *selections(9, "Selection in registers against lists in memory",
                    (registers, ("global_insertion", ""), ("local_insertion", "")), (1, 5, 8, 10, 15, 21)),
        dataclasses.replace(selection("K-5.3", "Lists in shared memory", (registers, ("shared_insertion", "")), (1, 5, 8)),
                            parameters="columns=10000;rows=10000"),
        hidden(), whole_plugins(), sorts(), placements(), on_cpu(),
        kinds_of_answer(),
        Table("H1", "histogram", "blocks_per_sm=2;bytes=104857600;distribution=uniform",
              {"included": "", "excluded": ""}, (Line("shared_atomics", "ms", by_column={"included": "ms with transfers"}),),
              ((0, 0),), "Transfers are pageable copies of the bytes and of the bins."),
        Table("H-blocks", "histogram", "bytes=104857600;distribution=uniform", "blocks_per_sm={x}",
              (Line("shared_atomics", "ms"),), title="Blocks of 256 threads on each multiprocessor", own_columns=(2, 8),
              remark="The tutorial has two blocks on each multiprocessor and calls that the fastest. Where more are faster, "
              "the claim does not hold on the device."),
        Table("H-data", "histogram", "bytes=104857600", distributions,
              (Line("shared_atomics", "ms", "blocks_per_sm=2"), Line("global_atomics", "ms")),
              title="H1 by the distribution of the bytes", own_columns=tuple(distributions)),
        Table("H-dot", "dot", "", "elements={x}",
              (Line("host_finish", "ms", "blocks_per_sm=8"), Line("atomic_float", "ms", "blocks_per_sm=8"),
               Compared("`host_finish` over `atomic_float`", 0, 1)),
              remark="The vectors' lengths are ours.",
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
        Table("S-fig3", "coherent_sum", f"delays=cube;receivers=1920;samples=15000;{SUMMED}", "variant={x}",
              (Line("", "ms"),), title="Travel times computed anew, and kept",
              own_columns=("recomputed_times;staged=1", "recomputed_times;staged=0", "shared_hodograph", "global_cached")),
        Table("S-rejected", "coherent_sum", f"receivers=1920;samples=15000;{SUMMED}", "variant={x}",
              (Line("", "ms"),), title="Threads dealt out otherwise, which the source rejects",
              own_columns=("source_per_thread", "receiver_atomics", "global_cached")),
        Table("S-times", "travel_time", "phases=1;receivers=1920", "columns={x};layers={x};rows={x}",
              (Line("constant_memory", "ms"), Line("global", "ms"), Line("cpu_scalar", "ms", "", CPU)),
              title="The first stage: delays of a cube's nodes", own_columns=(10, 25, 30)),
        Table("S-fig7-8", "coherent_sum", f"block=256;{SUMMED}", "samples={x}",
              tuple(Line("global_cached", quantity, f"receivers={receivers}") for receivers in (256, 2048)
                    for quantity in ("G additions/s", "L1 hits, %")),
              title="Speed and hits in L1 by the length of the window (figures 7 and 8)", own_columns=WINDOWS),
        Table("S-fig11", "coherent_sum", "block=256;output=maximum;receivers=1920;samples=15000;span=512", "sources={x}",
              (Line("global_cached", "G additions/s"), Line("global_cached", "real-time factor at 500 Hz")),
              title="Speed by the size of the grid (figure 11)", own_columns=tuple(n**3 for n in (10, 15, 20, 25, 30, 33))),
        Table("S-cpu", "coherent_sum", f"receivers=256;samples=1000;{SUMMED}", "variant={x}",
              (Line("", "ms", "", CPU),), title="The sums on the CPU", own_columns=("cpu_scalar", "cpu_openmp")),
        Table("S4", "coherent_sum", SUMMED, "receivers={x}",
              tuple(Line("global_cached", "G additions/s", f"samples={samples}") for samples in WINDOWS), on_page=(0, 2, 7),
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
    columns = ("global", *(f"pre_extended;threads={threads}" for threads in (256, 512, 1024)),
               *(f"global_blocks;rows={rows}" for rows in (16, 32)), "shared_u8_int", "shared_u8_float", "shared_float",
               "shared_float_32x8", "shared_vectorised", *(f"shared_float_padded;padding={words}" for words in (5, 20)))
    quantities = ("µs", "occupancy reached, %", "DRAM, % of peak", "SM, % of peak", "cycles with an issue, %", "ALU pipe, %", "FMA pipe, %",
                  "XU pipe, %", "wavefronts of shared memory per value", "of them bank conflicts, %", "L1 hits, %")
    image = "border=zero;channels=3;coefficients=narrow;height=3744;width=4992"
    on_cpu = tuple(f"cpu_{name}" for name in ("scalar", "openmp_rows", "openmp_columns", "avx2_int16", "avx2_float",
                                              "avx2_int16_preconverted", "avx2_float_preconverted", "avx2_int16_shuffle"))
    return [Table("C-2", "convolution_2d", image, "variant={x}", tuple(Line("", quantity) for quantity in quantities),
                  title="The lab's image on the GPU, in the lab's order (its sections 2.1 to 2.5)", own_columns=columns,
                  on_page=(0, 1, 2, 3, 8, 9, 10),
                  remark="The lab prints an occupancy of 84.5% for `global`."),
            Table("C-1", "convolution_2d", image, "variant={x}",
                  (Line("", "ms", "", ONE_THREAD), Line("", "ms")),
                  title="The lab's image on the CPU (its sections 1.1 to 1.3)", own_columns=on_cpu,
                  remark="`cpu_scalar` is one thread wherever it runs, all others use all threads of the processor: only on "
                         "one thread do their instructions compare with its.")]
