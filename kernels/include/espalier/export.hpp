#pragma once

/// Marks what a shared build of the library exports; everything else is compiled with hidden visibility.
#define ESPALIER_API [[gnu::visibility("default")]]
