#pragma once

namespace espalier::inline v1 {

/// How the element of row r and column c of a matrix lies in memory.
enum class MatrixLayout {
    transposed,  ///< at [c * rows + r]: column after column, so that GPU threads of neighbouring rows read side by side
    row_major,   ///< at [r * columns + c]: row after row, as C arrays, NumPy and PyTorch have it
};

}  // namespace espalier::inline v1
