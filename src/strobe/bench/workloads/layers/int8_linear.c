/* y = x w + bias for 8-bit weights and rows of x that are brought to 7 bits as they come; AVX2, or VNNI where there is.
 *
 * Rows of x take 0..127 and weights -63..63, as int8_dot.h asks for.
 * Weights lie in panels of 16 columns; within a panel, four rows of a column side by side: w[n / 16][k / 4][n % 16][4].
 * K is a multiple of 8 and N of 16, padded with zeros.
 */
#include "int8_dot.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { ROWS = 6, COLUMNS = 16 };

/* Bring one row to 0..127: x = scale * (q - zero). 7 bits know neither NaN nor infinity: they make the scale NaN. */
static void quantize_row(const float *x, long k_given, long k_padded, uint8_t *q, float *scale, int32_t *zero) {
    float low = 0, high = 0, fault = 0;
    for (long k = 0; k < k_given; k++) {
        low = x[k] < low ? x[k] : low;
        high = x[k] > high ? x[k] : high;
        fault += 0 * x[k];
    }
    float step = (high - low) / 127.0f;
    if (step == 0) step = 1;
    float inverse = 1 / step;
    int32_t offset = (int32_t)lrintf(-low * inverse);
    for (long k = 0; k < k_given; k++) {
        int32_t v = (int32_t)(x[k] * inverse + (float)offset + 0.5f);
        q[k] = (uint8_t)(v < 0 ? 0 : v > 127 ? 127 : v);
    }
    memset(q + k_given, 0, k_padded - k_given);
    *scale = step + fault;
    *zero = offset;
}

/* Six rows (lines of q) by one panel. Not inlined: it needs all registers. */
static __attribute__((noinline)) void tile(const uint8_t *q, long stride, const int8_t *panel, long k_padded,
                                           int32_t *sums) {
    __m256i acc[ROWS][2];
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) acc[i][0] = acc[i][1] = _mm256_setzero_si256();
    for (long k = 0; k < k_padded; k += 8) {
        const __m256i *w = (const __m256i *)(panel + k * COLUMNS);
        __m256i w0 = _mm256_load_si256(w), w1 = _mm256_load_si256(w + 1);
        __m256i w2 = _mm256_load_si256(w + 2), w3 = _mm256_load_si256(w + 3);
#pragma GCC unroll 6
        for (int i = 0; i < ROWS; i++) {
            int32_t first, second;
            memcpy(&first, q + i * stride + k, 4);
            memcpy(&second, q + i * stride + k + 4, 4);
            __m256i a = _mm256_set1_epi32(first), b = _mm256_set1_epi32(second);
            acc[i][0] = dot(acc[i][0], a, w0, b, w2);
            acc[i][1] = dot(acc[i][1], a, w1, b, w3);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) {
        _mm256_store_si256((__m256i *)(sums + i * COLUMNS), acc[i][0]);
        _mm256_store_si256((__m256i *)(sums + i * COLUMNS + 8), acc[i][1]);
    }
}

/* Threads share panels; q [m + 6, k_padded], scales and zeros [m] are room to work in. */
void int8_linear(const float *x, const int8_t *w, const float *w_scales, const int32_t *w_sums, const float *bias,
                 float *y, long m, long n, long n_padded, long k, long k_padded, int is_relu, uint8_t *q, float *scales,
                 int32_t *zeros, int threads) {
#pragma omp parallel num_threads(threads)
    {
#pragma omp for schedule(static)
        for (long i = 0; i < m; i++) quantize_row(x + i * k, k, k_padded, q + i * k_padded, scales + i, zeros + i);
#pragma omp for schedule(static)
        for (long j = 0; j < n_padded; j += COLUMNS) {
            int32_t sums[ROWS * COLUMNS] __attribute__((aligned(32)));
            long columns = n - j < COLUMNS ? n - j : COLUMNS;
            for (long i = 0; i < m; i += ROWS) {
                tile(q + i * k_padded, k_padded, w + j * k_padded, k_padded, sums);
                long rows = m - i < ROWS ? m - i : ROWS;
                for (long r = 0; r < rows; r++) {
                    float *out = y + (i + r) * n + j;
                    for (long c = 0; c < columns; c++) {
                        float value = (float)(sums[r * COLUMNS + c] - zeros[i + r] * w_sums[j + c]) *
                                          (scales[i + r] * w_scales[j + c]) + bias[j + c];
                        out[c] = is_relu && value < 0 ? 0 : value;
                    }
                }
            }
        }
    }
}
