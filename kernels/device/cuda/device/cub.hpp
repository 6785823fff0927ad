#pragma once

// The device-wide algorithms of CUB that variants use. The twin in harness/emulator/ has their names only,
// so that a variant of gpu_only/ compiles everywhere and runs on a GPU.

#include <cub/device/device_histogram.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "device/kernel.hpp"
