#pragma once

/// For the strings of target attributes: GCC's preference for registers of 512 bits, which it would halve. Clang knows
/// none, and ignores an attribute that it does not understand.
#ifdef __clang__
#define ESPALIER_PREFER_512 ""
#else
#define ESPALIER_PREFER_512 ",prefer-vector-width=512"
#endif
