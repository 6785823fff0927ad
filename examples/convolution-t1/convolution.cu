// Correlates an image with a filter of 17x17. A block computes tiles of (block_size_x * tile_size_x) by (block_size_y *
// tile_size_y) values from a part of the image in shared memory, whose rows may have one element more, so that threads
// in a column do not meet in one bank. The image has a border as wide as the filter needs.

#define FILTER_WIDTH 17
#define FILTER_HEIGHT 17
#define BORDER_X (FILTER_WIDTH / 2 * 2)
#define BORDER_Y (FILTER_HEIGHT / 2 * 2)
#define TILE_X (block_size_x * tile_size_x)
#define TILE_Y (block_size_y * tile_size_y)

extern "C" __global__ void convolution(float* output, const float* input, const float* filter, int width, int height) {
    __shared__ float tile[TILE_Y + BORDER_Y][TILE_X + BORDER_X + use_padding];
    const int left = blockIdx.x * TILE_X, top = blockIdx.y * TILE_Y;
    for (int y = threadIdx.y; y < TILE_Y + BORDER_Y; y += block_size_y)
        for (int x = threadIdx.x; x < TILE_X + BORDER_X; x += block_size_x)
            if (left + x < width + BORDER_X && top + y < height + BORDER_Y)
                tile[y][x] = input[(top + y) * (width + BORDER_X) + left + x];
    __syncthreads();

    float sums[tile_size_y][tile_size_x] = {};
    for (int i = 0; i < FILTER_HEIGHT; ++i)
        for (int j = 0; j < FILTER_WIDTH; ++j) {
            const float weight = filter[i * FILTER_WIDTH + j];
#pragma unroll
            for (int a = 0; a < tile_size_y; ++a)
#pragma unroll
                for (int b = 0; b < tile_size_x; ++b)
                    sums[a][b] += weight * tile[threadIdx.y + a * block_size_y + i][threadIdx.x + b * block_size_x + j];
        }
    for (int a = 0; a < tile_size_y; ++a)
        for (int b = 0; b < tile_size_x; ++b) {
            const int x = left + threadIdx.x + b * block_size_x, y = top + threadIdx.y + a * block_size_y;
            if (x < width && y < height) output[y * width + x] = sums[a][b];
        }
}

// One thread for each value, straight from memory: what the other one is checked by.
extern "C" __global__ void convolution_plain(float* output, const float* input, const float* filter, int width,
                                             int height) {
    const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= width || y >= height) return;
    float sum = 0;
    for (int i = 0; i < FILTER_HEIGHT; ++i)
        for (int j = 0; j < FILTER_WIDTH; ++j)
            sum += filter[i * FILTER_WIDTH + j] * input[(y + i) * (width + BORDER_X) + x + j];
    output[y * width + x] = sum;
}
