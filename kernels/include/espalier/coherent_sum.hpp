#pragma once

namespace espalier {

/// What coherent summation keeps of the sums of a window.
enum class Coherence {
    sums,     ///< every sum: sources x samples
    maximum,  ///< per source only the largest sum and when it occurs: the coherence cube
};

}  // namespace espalier
