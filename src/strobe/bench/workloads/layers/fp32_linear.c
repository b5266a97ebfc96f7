/* y = x w + bias in 32 bits; AVX2 with FMA.
 *
 * MKL lays weights out anew in every call, which for a few dozen rows is a good part of its time, and waits for memory
 * between panels. Here weights lie in panels of 16 columns from the start, w[n / 16][k][n % 16], padded with zeros, and
 * the next part of a panel is fetched while this one is used.
 */
#include <immintrin.h>

enum { ROWS = 6, COLUMNS = 16, DEPTH = 256, BLOCK = 132 };

/* Six rows (interleaved in a) by one panel, over `depth` products; adds to sums. Not inlined: it needs all registers, and
 * one that the loop around it keeps something in costs a third of the speed. */
static __attribute__((noinline)) void tile(const float *a, const float *w, long depth, float *sums, const char *next,
                                           long lines) {
    __m256 c[ROWS][2];
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) {
        c[i][0] = _mm256_load_ps(sums + i * COLUMNS);
        c[i][1] = _mm256_load_ps(sums + i * COLUMNS + 8);
    }
    for (long line = 0; line < lines; line++) _mm_prefetch(next + 64 * line, _MM_HINT_T1);
    for (long k = 0; k < depth; k++) {
        __m256 w0 = _mm256_load_ps(w), w1 = _mm256_load_ps(w + 8);
#pragma GCC unroll 6
        for (int i = 0; i < ROWS; i++) {
            __m256 x = _mm256_broadcast_ss(a + i);
            c[i][0] = _mm256_fmadd_ps(x, w0, c[i][0]);
            c[i][1] = _mm256_fmadd_ps(x, w1, c[i][1]);
        }
        w += COLUMNS;
        a += ROWS;
    }
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) {
        _mm256_store_ps(sums + i * COLUMNS, c[i][0]);
        _mm256_store_ps(sums + i * COLUMNS + 8, c[i][1]);
    }
}

/* Threads share rows, and the panels of a block of rows; packed [m rounded up to six, k] is room for all rows,
 * interleaved by six. They wait for each other once, whatever m is. */
void fp32_linear(const float *x, const float *w, const float *bias, float *y, long m, long n, long k, int is_relu,
                 float *packed, int threads) {
    long panels = (n + COLUMNS - 1) / COLUMNS, blocks = (m + BLOCK - 1) / BLOCK;
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (long t = 0; t < (m + ROWS - 1) / ROWS; t++)
            for (int i = 0; i < ROWS; i++) {
                long row = t * ROWS + i < m ? t * ROWS + i : m - 1;
                const float *from = x + row * k;
                float *to = packed + t * ROWS * k + i;
                for (long j = 0; j < k; j++) to[j * ROWS] = from[j];
            }
#pragma omp for schedule(static)
        for (long item = 0; item < blocks * panels; item++) {
            long start = item / panels * BLOCK, column = item % panels * COLUMNS;
            long rows = m - start < BLOCK ? m - start : BLOCK, tiles = (rows + ROWS - 1) / ROWS;
            float sums[BLOCK * COLUMNS] __attribute__((aligned(64)));
            const float *panel = w + column * k, *block = packed + start * k;
            for (long i = 0; i < tiles * ROWS * COLUMNS; i++) sums[i] = 0;
            for (long from = 0; from < k; from += DEPTH) {
                long depth = k - from < DEPTH ? k - from : DEPTH, lines = (DEPTH + tiles - 1) / tiles;
                const char *next = (const char *)(panel + (from + DEPTH) * COLUMNS);
                for (long t = 0; t < tiles; t++)
                    tile(block + (t * k + from) * ROWS, panel + from * COLUMNS, depth, sums + t * ROWS * COLUMNS,
                         next + 64 * lines * t, lines);
            }
            long columns = n - column < COLUMNS ? n - column : COLUMNS;
            for (long row = 0; row < rows; row++)
                for (long c = 0; c < columns; c++) {
                    float value = sums[row * COLUMNS + c] + bias[column + c];
                    y[(start + row) * n + column + c] = is_relu && value < 0 ? 0 : value;
                }
        }
    }
}
