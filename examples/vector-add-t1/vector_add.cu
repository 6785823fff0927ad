// Adds two vectors: each thread takes `elements_per_thread` of them, a whole grid apart, so that a warp reads
// consecutive addresses.

extern "C" __global__ void vector_add(float* c, const float* a, const float* b, int n) {
    int i = blockIdx.x * block_size_x + threadIdx.x;
    const int stride = gridDim.x * block_size_x;
#pragma unroll
    for (int k = 0; k < elements_per_thread; ++k, i += stride)
        if (i < n) c[i] = a[i] + b[i];
}
