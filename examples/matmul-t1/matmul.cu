// C = A * B, all row by row: A of m rows and k columns, B of k rows and n columns. A block computes a tile of
// (block_size_y * work_y) rows and (block_size_x * work_x) columns of C, `depth` columns of A and rows of B at a time
// in shared memory; a thread sums work_y * work_x values of it in registers.

#define ROWS (block_size_y * work_y)
#define COLUMNS (block_size_x * work_x)

extern "C" __global__ void matmul(float* c, const float* a, const float* b, int m, int n, int k) {
    __shared__ float tile_a[ROWS][depth + pad];
    __shared__ float tile_b[depth][COLUMNS];
    const int top = blockIdx.y * ROWS, left = blockIdx.x * COLUMNS;
    const int thread = threadIdx.y * block_size_x + threadIdx.x, threads = block_size_x * block_size_y;
    float sums[work_y][work_x] = {};
    for (int from = 0; from < k; from += depth) {
        for (int i = thread; i < ROWS * depth; i += threads) {
            const int row = top + i / depth, column = from + i % depth;
            tile_a[i / depth][i % depth] = row < m && column < k ? a[(long long)row * k + column] : 0;
        }
        for (int i = thread; i < depth * COLUMNS; i += threads) {
            const int row = from + i / COLUMNS, column = left + i % COLUMNS;
            tile_b[i / COLUMNS][i % COLUMNS] = row < k && column < n ? b[(long long)row * n + column] : 0;
        }
        __syncthreads();
#pragma unroll
        for (int d = 0; d < depth; ++d) {
            float of_b[work_x];
#pragma unroll
            for (int x = 0; x < work_x; ++x) of_b[x] = tile_b[d][threadIdx.x + x * block_size_x];
#pragma unroll
            for (int y = 0; y < work_y; ++y) {
                const float of_a = tile_a[threadIdx.y + y * block_size_y][d];
#pragma unroll
                for (int x = 0; x < work_x; ++x) sums[y][x] += of_a * of_b[x];
            }
        }
        __syncthreads();
    }
    for (int y = 0; y < work_y; ++y)
        for (int x = 0; x < work_x; ++x) {
            const int row = top + threadIdx.y + y * block_size_y, column = left + threadIdx.x + x * block_size_x;
            if (row < m && column < n) c[(long long)row * n + column] = sums[y][x];
        }
}

// A thread for each value of C, straight from memory.
extern "C" __global__ void matmul_plain(float* c, const float* a, const float* b, int m, int n, int k) {
    const int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
    if (row >= m || column >= n) return;
    float sum = 0;
    for (int d = 0; d < k; ++d) sum += a[(long long)row * k + d] * b[(long long)d * n + column];
    c[(long long)row * n + column] = sum;
}
