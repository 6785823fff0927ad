#pragma once

struct CUstream_st;  // CUDA's, opaque here so that no CUDA header is needed

namespace espalier::inline v1 {

/// A queue of a GPU's work, the type that CUDA calls cudaStream_t. Null is the default stream, and the only one of a
/// CPU.
using Stream = CUstream_st*;

}  // namespace espalier::inline v1
