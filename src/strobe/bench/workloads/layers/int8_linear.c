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

/* Sums of a row for the columns of a panel; `add` is for eight of its values by w[2][16][4]. */
#ifdef HAS_VNNI
typedef struct {
    __m512i first, second; /* sums of the first four and of the second, so that none waits for the other */
} line;

static inline __attribute__((always_inline)) void add(line *sums, int32_t a, int32_t b, const int8_t *w) {
    sums->first = _mm512_dpbusd_epi32(sums->first, _mm512_set1_epi32(a), _mm512_load_si512(w));
    sums->second = _mm512_dpbusd_epi32(sums->second, _mm512_set1_epi32(b), _mm512_load_si512(w + 64));
}

static inline __attribute__((always_inline)) void store(const line *sums, int32_t *to) {
    _mm512_store_si512(to, _mm512_add_epi32(sums->first, sums->second));
}
#else
typedef struct {
    __m256i left, right; /* sums of the left eight columns and of the right */
} line;

static inline __attribute__((always_inline)) void add(line *sums, int32_t a, int32_t b, const int8_t *w) {
    const __m256i *eight = (const __m256i *)w, four = _mm256_set1_epi32(a), next = _mm256_set1_epi32(b);
    sums->left = dot(sums->left, four, _mm256_load_si256(eight), next, _mm256_load_si256(eight + 2));
    sums->right = dot(sums->right, four, _mm256_load_si256(eight + 1), next, _mm256_load_si256(eight + 3));
}

static inline __attribute__((always_inline)) void store(const line *sums, int32_t *to) {
    _mm256_store_si256((__m256i *)to, sums->left);
    _mm256_store_si256((__m256i *)to + 1, sums->right);
}
#endif

/* Six rows (lines of q) by one panel. Not inlined: it needs all registers. */
static __attribute__((noinline)) void tile(const uint8_t *q, long stride, const int8_t *panel, long k_padded,
                                           int32_t *sums) {
    line lines[ROWS] = {0};
    for (long k = 0; k < k_padded; k += 8) {
#pragma GCC unroll 6
        for (int i = 0; i < ROWS; i++) {
            int32_t first, second; /* by a load each: halves of one would have to be taken apart in registers */
            memcpy(&first, q + i * stride + k, 4);
            memcpy(&second, q + i * stride + k + 4, 4);
            add(lines + i, first, second, panel + k * COLUMNS);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < ROWS; i++) store(lines + i, sums + i * COLUMNS);
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
            int32_t sums[ROWS * COLUMNS] __attribute__((aligned(64)));
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
