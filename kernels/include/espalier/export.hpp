#pragma once

/// Marks what a shared build of the library exports; everything else is compiled with hidden visibility. A static one
/// exports nothing: its users are told so by ESPALIER_STATIC, which its CMake targets and pkg-config file define.
#ifdef ESPALIER_STATIC
#define ESPALIER_API
#else
#define ESPALIER_API [[gnu::visibility("default")]]
#endif
