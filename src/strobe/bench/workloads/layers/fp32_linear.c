/* y = x w + bias in 32 bits; AVX-512, or AVX2 with FMA.
 *
 * MKL lays weights out anew in every call, which for a few dozen rows is a good part of its time, and waits for memory
 * between panels. Here weights lie in panels from the start, w[n / COLUMNS][k][n % COLUMNS], and the next part of a
 * panel is fetched while this one is used. The last panel has as many vectors as it needs, padded with zeros as biases are.
 * In training weights change with every step: there, they are laid out first, too.
 */
#include "lanes.h"
#include <math.h>
#include <string.h>

#if BITS == 512
enum { VECTORS = 4 }; /* of a panel: 24 sums, 4 weights and a value in 32 registers */
#else
enum { VECTORS = 2 }; /* 12 sums, 2 weights and a value in 16 */
#endif
enum { ROWS = 6, COLUMNS = VECTORS * LANES, DEPTH = 128, BLOCK = 132 };

/* What Python lays out by. */
const int rows_of_tile = ROWS, columns_of_vector = LANES;

/* Six rows (interleaved in a) by one panel, over `depth` products; adds to sums. What is needed `next` is fetched step by step,
 * `pace` bytes each: all at once, the processor has no room for so many fetches and waits. */
static inline __attribute__((always_inline)) void multiply(const float *a, const float *w, long depth, float *restrict sums,
                                                            const char *next, long pace, int vectors) {
    vector c[ROWS][VECTORS];
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) c[i][v] = lanewise(load)(sums + i * COLUMNS + v * LANES);
    for (long k = 0; k < depth; k++) {
        vector weights[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) weights[v] = lanewise(loadu)(w + v * LANES);
#pragma GCC unroll 6
        for (int i = 0; i < ROWS; i++) {
            vector x = lanewise(set1)(a[i]);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) c[i][v] = lanewise(fmadd)(x, weights[v], c[i][v]);
        }
        _mm_prefetch(next, _MM_HINT_T1);
        next += pace;
        w += vectors * LANES;
        a += ROWS;
    }
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++)
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) lanewise(store)(sums + i * COLUMNS + v * LANES, c[i][v]);
}

/* Not inlined: it needs all registers, and one that the loop around it keeps something in costs a third of the speed. */
#define TILE(vectors)                                                                                                   \
    static __attribute__((noinline)) void tile_##vectors(const float *a, const float *w, long depth, float *sums,      \
                                                         const char *next, long pace) {                                \
        multiply(a, w, depth, sums, next, pace, vectors);                                                              \
    }
TILE(1)
TILE(2)
#if BITS == 512
TILE(3)
TILE(4)
#endif

static void (*const TILES[])(const float *, const float *, long, float *, const char *, long) = {
    tile_1,
    tile_2,
#if BITS == 512
    tile_3,
    tile_4,
#endif
};

static inline __attribute__((always_inline)) void finish(const float *restrict sums, float *restrict y, long columns, float least) {
    for (long c = 0; c < columns; c++) y[c] = sums[c] < least ? least : sums[c];
}

/* The functions from here on share their loops among the threads of the region that they are called in. */

/* Rows of x [m, k], a step of `row` and of `column` apart, interleaved by six; the last ones again where m is not a multiple. */
static inline __attribute__((always_inline)) void interleave(const float *x, long row, long column, long m, long k, float *packed) {
#pragma omp for schedule(static)
    for (long t = 0; t < (m + ROWS - 1) / ROWS; t++) {
        const float *from[ROWS];
        float *to = packed + t * ROWS * k;
        for (int i = 0; i < ROWS; i++) from[i] = x + (t * ROWS + i < m ? t * ROWS + i : m - 1) * row;
        for (long j = 0; j < k; j++)
#pragma GCC unroll 6
            for (int i = 0; i < ROWS; i++) *to++ = from[i][j * column];
    }
}

/* w [k, n], a step of `row` and of `column` apart, in panels. */
static inline __attribute__((always_inline)) void lay_out(const float *w, long row, long column, long n, long k, float *panels) {
#pragma omp for schedule(static)
    for (long first = 0; first < n; first += COLUMNS) {
        long columns = n - first < COLUMNS ? n - first : COLUMNS, width = (columns + LANES - 1) / LANES * LANES;
        const float *from = w + first * column;
        float *to = panels + first * k;
        /* A few lines at a time: they are read along k, and written across it. */
        for (long start = 0; start < k; start += LANES) {
            long end = start + LANES < k ? start + LANES : k;
            for (long c = 0; c < columns; c++)
                for (long j = start; j < end; j++) to[j * width + c] = from[j * row + c * column];
            for (long c = columns; c < width; c++)
                for (long j = start; j < end; j++) to[j * width + c] = 0;
        }
    }
}

/* The same where a line of w is a line of its panel. */
static void lay_out_lines(const float *w, long row, long n, long k, float *panels) {
#pragma omp for schedule(static)
    for (long first = 0; first < n; first += COLUMNS) {
        long columns = n - first < COLUMNS ? n - first : COLUMNS, width = (columns + LANES - 1) / LANES * LANES;
        float *to = panels + first * k;
        for (long j = 0; j < k; j++, to += width) {
            memcpy(to, w + j * row + first, columns * sizeof *w);
            memset(to + columns, 0, (width - columns) * sizeof *w);
        }
    }
}

static void lay_out_any(const float *w, long row, long column, long n, long k, float *panels) {
    if (column == 1) lay_out_lines(w, row, n, k, panels);
    else if (row == 1) lay_out(w, 1, column, n, k, panels);
    else lay_out(w, row, column, n, k, panels);
}

/* Threads share the panels of blocks of rows, of which there are several for each. */
static void multiply_blocks(const float *packed, const float *w, const float *bias, float *y, long m, long n, long k, float least,
                            int threads) {
    long panels = (n + COLUMNS - 1) / COLUMNS, all = (m + ROWS - 1) / ROWS, parts = 4 * threads;
    long share = (all * panels + parts - 1) / parts, height = ROWS * (share < BLOCK / ROWS ? share : BLOCK / ROWS);
    long blocks = (m + height - 1) / height;
#pragma omp for schedule(static)
    for (long item = 0; item < blocks * panels; item++) {
        long start = item / panels * height, column = item % panels * COLUMNS;
        long rows = m - start < height ? m - start : height, tiles = (rows + ROWS - 1) / ROWS;
        long columns = n - column < COLUMNS ? n - column : COLUMNS, vectors = (columns + LANES - 1) / LANES;
        long width = vectors * LANES, pace = width * sizeof *w / tiles + 1;
        float sums[BLOCK * COLUMNS] __attribute__((aligned(64)));
        const float *panel = w + column * k, *block = packed + start * k;
        for (long i = 0; i < tiles * ROWS; i++)
            for (long j = 0; j < width; j++) sums[i * COLUMNS + j] = bias ? bias[column + j] : 0;
        for (long from = 0; from < k; from += DEPTH) {
            long depth = k - from < DEPTH ? k - from : DEPTH;
            const char *next = (const char *)(panel + (from + DEPTH) * width);
            for (long t = 0; t < tiles; t++, next += pace * depth)
                TILES[vectors - 1](block + (t * k + from) * ROWS, panel + from * width, depth, sums + t * ROWS * COLUMNS, next, pace);
        }
        for (long row = 0; row < rows; row++) {
            float *to = y + (start + row) * n + column;
            if (columns == COLUMNS) finish(sums + row * COLUMNS, to, COLUMNS, least); /* without a loop */
            else finish(sums + row * COLUMNS, to, columns, least);
        }
    }
}

/* What fp32_linear takes as w. */
void fp32_lay_out(const float *w, long row, long column, long n, long k, float *panels, int threads) {
#pragma omp parallel num_threads(threads)
    lay_out_any(w, row, column, n, k, panels);
}

/* packed [m rounded up to six, k] is room for all rows. Threads wait for each other once, whatever m is. */
void fp32_linear(const float *x, const float *w, const float *bias, float *y, long m, long n, long k, int is_relu,
                 float *packed, int threads) {
    float least = is_relu ? 0 : NAN; /* nothing is below NaN, nor is NaN below anything: it stays */
    if (m == 0 || n == 0) return; /* nothing to share among threads */
#pragma omp parallel num_threads(threads)
    {
        interleave(x, k, 1, m, k, packed);
        multiply_blocks(packed, w, bias, y, m, n, k, least, threads);
    }
}

/* y [m, n] = x [m, k] w [k, n] of matrices whose rows and columns are any steps apart; panels [k, n rounded up to a vector] is room. */
void fp32_product(const float *x, long x_row, long x_column, const float *w, long w_row, long w_column, float *y, long m, long n,
                  long k, float *packed, float *panels, int threads) {
    if (m == 0 || n == 0) return;
#pragma omp parallel num_threads(threads)
    {
        if (x_column == 1) interleave(x, x_row, 1, m, k, packed);
        else if (x_row == 1) interleave(x, 1, x_column, m, k, packed);
        else interleave(x, x_row, x_column, m, k, packed);
        lay_out_any(w, w_row, w_column, n, k, panels);
        multiply_blocks(packed, panels, NULL, y, m, n, k, NAN, threads);
    }
}
