// Distances in tiles of 32 queries x 32 points by the matrix registers of Intel's servers (AMX), which take 512
// multiply-adds a cycle where vectors take 32. Their numbers have 8 bits, so that each value is two of them, and three
// of the four products are taken: what is left out is as much as the roundings of a chain of 100 multiply-adds
// (docs/performance/knn-cpu.md), and the screen's bound has room for it.

#include <sys/syscall.h>
#include <unistd.h>

#include "variants/knn/x86/avx512_vectors.hpp"

#define ESPALIER_AMX __attribute__((target("amx-tile,amx-bf16,avx512f,avx512bw,avx512dq,avx512vl,fma")))

namespace espalier::knn {
namespace {

/// The vectors' tiles where the screen tells too little and terms are no longer products.
struct Amx : VectorTiles<Avx512, 2, 4> {
    static constexpr int kRows = 16, kPairs = 16;  // of a tile: items, pairs of attributes
    static constexpr std::int64_t kDeep = 2 * kPairs;
    static constexpr std::int64_t kTile = kRows * kPairs;  // pairs, each as large as a float
    static constexpr std::int64_t kStep = 4 * kTile;       // of a panel: upper halves of 32 items, then lower ones
    static constexpr std::int64_t kFewBlocks = 1, kBlockFloats = 128 << 10;
    static_assert(kQueries == 2 * kRows && kPoints == 2 * kRows);

    static constexpr std::int64_t depth(std::int64_t dims) { return fused::rounded_up(dims, kDeep); }
    static constexpr std::int64_t roundings(std::int64_t dims) { return dims / 8 + 320; }
    static constexpr double smallest(std::int64_t dims) { return static_cast<double>(10 * dims + 64) * 0x1p-126; }

    struct alignas(64) Palette {
        std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
        std::uint16_t row_bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
        std::uint8_t rows[16] = {kRows, kRows, kRows, kRows, kRows, kRows, kRows, kRows};
    };

    ESPALIER_AMX static void begin() {
        static constexpr Palette kPalette;
        _tile_loadconfig(&kPalette);
    }
    ESPALIER_AMX static void end() { _tile_release(); }

    template <Terms terms>
    static bool tile(const fused::TileInput& in, Tile& out) {
        if constexpr (terms != Terms::products) return VectorTiles::tile<terms>(in, out);
        multiply(in.queries, in.points, depth(in.dims) / kDeep, out.values[0]);
        return compare(in, out);
    }

    template <Terms terms>
    static void pack_queries(const fused::Slice& slice, const float* centre, float scale, float* panel) {
        if constexpr (terms != Terms::products)
            VectorTiles::pack_queries<terms>(slice, centre, scale, panel);
        else
            pack_halves<Order::items>(slice, centre, scale, panel);
    }

    template <Terms terms>
    static void pack_points(const fused::Slice& slice, const float* centre, float* panel) {
        if constexpr (terms != Terms::products)
            VectorTiles::pack_points<terms>(slice, centre, panel);
        else
            pack_halves<Order::pairs>(slice, centre, 1.0F, panel);
    }

private:
    /// products[q * kPoints + p] of two panels, so many steps deep.
    ESPALIER_AMX static void multiply(const float* queries, const float* points, std::int64_t steps, float* products) {
        constexpr int kRowBytes = 64, kOutBytes = kPoints * sizeof(float);
        _tile_zero(0);
        _tile_zero(1);
        _tile_zero(2);
        _tile_zero(3);
        for (std::int64_t step = 0; step < steps; ++step, queries += kStep, points += kStep) {
            _tile_loadd(4, queries, kRowBytes);
            _tile_loadd(6, points, kRowBytes);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(5, queries + kTile, kRowBytes);
            _tile_dpbf16ps(2, 5, 6);
            _tile_loadd(7, points + kTile, kRowBytes);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(3, 5, 7);
            _tile_loadd(6, points + 2 * kTile, kRowBytes);
            _tile_dpbf16ps(0, 4, 6);
            _tile_dpbf16ps(2, 5, 6);
            _tile_loadd(7, points + 3 * kTile, kRowBytes);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(3, 5, 7);
            _tile_loadd(4, queries + 2 * kTile, kRowBytes);
            _tile_loadd(6, points, kRowBytes);
            _tile_dpbf16ps(0, 4, 6);
            _tile_loadd(5, queries + 3 * kTile, kRowBytes);
            _tile_dpbf16ps(2, 5, 6);
            _tile_loadd(7, points + kTile, kRowBytes);
            _tile_dpbf16ps(1, 4, 7);
            _tile_dpbf16ps(3, 5, 7);
        }
        _tile_stored(0, products, kOutBytes);
        _tile_stored(1, products + kRows, kOutBytes);
        _tile_stored(2, products + kRows * kPoints, kOutBytes);
        _tile_stored(3, products + kRows * kPoints + kRows, kOutBytes);
    }

    /// Adds the starts. False if every value is at or beyond its limit.
    __attribute__((ESPALIER_TARGET)) static bool compare(const fused::TileInput& in, Tile& out) {
        const __m512 low = _mm512_loadu_ps(in.starts), high = _mm512_loadu_ps(in.starts + kLanes);
        std::uint64_t any = 0;
        for (int q = 0; q < kQueries; ++q) {
            float* const values = out.values[q];
            const __m512 limit = _mm512_set1_ps(in.limits[q]);
            const __m512 first = _mm512_add_ps(_mm512_load_ps(values), low);
            const __m512 second = _mm512_add_ps(_mm512_load_ps(values + kLanes), high);
            out.wanted[q] = Avx512::bits(Avx512::wanted(first, limit)) | Avx512::bits(Avx512::wanted(second, limit))
                                                                             << kLanes;
            any |= out.wanted[q];
            _mm512_store_ps(values, first);
            _mm512_store_ps(values + kLanes, second);
        }
        return any != 0;
    }

    /// What lies side by side in a tile: an item's pairs of attributes, or a pair's items.
    enum class Order { items, pairs };

    /// (value - centre) * scale in two halves, zeros beyond the slice and beyond its attributes.
    template <Order order>
    __attribute__((ESPALIER_TARGET)) static void pack_halves(const fused::Slice& slice, const float* centre,
                                                             float scale, float* panel) {
        alignas(64) float values[kDeep][kPoints];
        for (std::int64_t a = 0; a < slice.dims; a += kDeep, panel += kStep) {
            fused::Slice some = slice;
            some.values += a * slice.items;
            some.dims = std::min(kDeep, slice.dims - a);
            if (some.dims < kDeep) std::fill_n(values[0], kDeep * kPoints, 0.0F);
            fused::pack_panel<kPoints>(some, centre + a, scale, values[0]);
            store_block<order>(values, panel);
        }
    }

    template <Order order>
    __attribute__((ESPALIER_TARGET)) static void store_block(const float (*values)[kPoints], float* block) {
        for (int first = 0; first < kPoints; first += kRows, block += kTile)
            for (int pair = 0; pair < kPairs; ++pair) {
                const Halves even = halves_of(values[2 * pair] + first);
                const Halves odd = halves_of(values[2 * pair + 1] + first);
                store<order>(block, pair, paired(even.upper, odd.upper));
                store<order>(block + 2 * kTile, pair, paired(even.lower, odd.lower));
            }
    }

    /// Of numbers, each as the upper 16 bits of a float: the nearest, and the nearest to what is left.
    struct Halves {
        __m512i upper, lower;
    };

    __attribute__((ESPALIER_TARGET, always_inline)) static Halves halves_of(const float* from) {
        const __m512 values = _mm512_load_ps(from);
        const __m512i upper = rounded(values);
        return {upper, rounded(_mm512_sub_ps(values, _mm512_castsi512_ps(upper)))};
    }

    __attribute__((ESPALIER_TARGET, always_inline)) static __m512i rounded(__m512 values) {
        const __m512i half = _mm512_add_epi32(_mm512_castps_si512(values), _mm512_set1_epi32(0x8000));
        return _mm512_and_si512(half, _mm512_set1_epi32(static_cast<int>(0xFFFF0000)));
    }

    __attribute__((ESPALIER_TARGET, always_inline)) static __m512i paired(__m512i even, __m512i odd) {
        return _mm512_or_si512(_mm512_maskz_srli_epi32(Avx512::kAll, even, 16), odd);
    }

    template <Order order>
    __attribute__((ESPALIER_TARGET, always_inline)) static void store(float* tile, int pair, __m512i of_items) {
        if constexpr (order == Order::pairs) {
            _mm512_storeu_si512(tile + std::ptrdiff_t{kRows} * pair, of_items);
        } else {
            const __m512i rows =
                _mm512_setr_epi32(0, 16, 32, 48, 64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240);
            _mm512_i32scatter_epi32(tile + pair, rows, of_items, sizeof(float));
        }
    }
};

/// Matrix registers are given to a process that asks for them, once: from then on its signal stacks have to have room
/// for them, so that nobody asks who does not use them.
bool are_granted() {
    constexpr long kAskFor = 0x1023, kMatrixRegisters = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
    static const bool granted = syscall(SYS_arch_prctl, kAskFor, kMatrixRegisters) == 0;
    return granted;
}

Support supports(const Problem& problem, const Configuration&, const DeviceInfo& device) {
    if (!device.amx_bf16) return Support::no("the processor has no matrix registers (AMX) for bfloat16");
    return fused::supports_products(problem);
}

using Vectors = VectorTiles<Avx512>;

/// By vectors where the system does not grant the registers: a program's signal stack is too small, say.
void run_whole(Context& context, const Problem& problem, const Buffers& buffers, const Configuration& configuration) {
    if (are_granted())
        fused::run<Amx>(context, problem, buffers, configuration);
    else
        fused::run<Vectors>(context, problem, buffers, configuration);
}

}  // namespace

Variant<Problem> cpu_fused_amx() {
    return {
        .role = Role::modern,
        .summary = "distances screened by matrix instructions, 32 queries x 32 points at once, numbers in two halves",
        .limits = "AMX and AVX-512; euclidean, cosine; k <= 1,024; nothing missing",
        .tolerance = kPipeline,
        .space = {},
        .supports = supports,
        .workspace = fused::workspace_of_either<Amx, Vectors>,
        .run = fused::run_in_cells<Vectors, run_whole, fused::workspace_of_either<Amx, Vectors>>};
}

}  // namespace espalier::knn
