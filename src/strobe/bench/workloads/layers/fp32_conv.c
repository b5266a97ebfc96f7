/* Convolutions of channels-last planes in 32 bits; AVX2 with FMA. The loop of int8_conv.c, a channel a step.
 *
 * Weights lie in panels from the start, and bias, shortcut and ReLU are done before anything is stored.
 */
#include <immintrin.h>
#include <math.h>
#include <stdint.h>

enum { PIXELS = 6, BLOCK = 48 };

/* As in int8_conv.c; there are no scales and nothing more precise. */
typedef struct {
    const float *x;
    const int32_t *windows, *steps, *starts;
    const float *w; /* [panels][num_steps][8 * vectors] */
    const float *scales, *biases, *residual;
    float *y;
    const int32_t *places;
    float *precise;
    long pixels, num_steps, panels, outputs;
    float residual_scale;
    int vectors, is_paired, is_relu;
} convolution;

static inline __attribute__((always_inline)) __m256 fetch(const float *from, int is_paired) {
    if (is_paired) return _mm256_set_m128(_mm_broadcast_ss(from + 4), _mm_broadcast_ss(from));
    return _mm256_broadcast_ss(from);
}

static inline __attribute__((always_inline)) void finish(const convolution *c, __m256 sum, long pixel, long column) {
    if (c->residual) sum = _mm256_add_ps(sum, _mm256_loadu_ps(c->residual + pixel * c->outputs + column));
    if (c->is_relu) sum = _mm256_max_ps(_mm256_setzero_ps(), sum); /* gives the second of two that do not compare: NaN stays */
    _mm256_storeu_ps(c->y + c->places[pixel] + column, sum);
}

static inline __attribute__((always_inline)) void tile(const convolution *c, long first, long end, long panel,
                                                        int vectors, int is_paired) {
    const float *w = c->w + panel * c->num_steps * vectors * 8;
    const float *x[PIXELS];
    long column = panel * vectors * 8;
    __m256 sums[PIXELS][2];
#pragma GCC unroll 6
    for (int i = 0; i < PIXELS; i++) {
        x[i] = c->x + c->windows[first + i < end ? first + i : end - 1] + c->starts[panel];
        for (int v = 0; v < vectors; v++) sums[i][v] = _mm256_loadu_ps(c->biases + column + 8 * v);
    }
    for (long step = 0; step < c->num_steps; step++, w += 8 * vectors) {
        long here = c->steps[step];
        __m256 weights[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) weights[v] = _mm256_loadu_ps(w + 8 * v);
#pragma GCC unroll 6
        for (int i = 0; i < PIXELS; i++) {
            __m256 value = fetch(x[i] + here, is_paired);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sums[i][v] = _mm256_fmadd_ps(value, weights[v], sums[i][v]);
        }
    }
    for (int v = 0; v < vectors; v++)
        if (column + 8 * v < c->outputs)
            for (int i = 0; i < PIXELS && first + i < end; i++) finish(c, sums[i][v], first + i, column + 8 * v);
}

/* Threads share blocks of pixels and, within them, panels. */
void convolve(const convolution *given, int threads) {
    const convolution copy = *given;
    long blocks = (copy.pixels + BLOCK - 1) / BLOCK;
#pragma omp parallel for num_threads(threads) schedule(static) firstprivate(copy)
    for (long item = 0; item < blocks * copy.panels; item++) {
        const convolution *c = &copy;
        long start = item / c->panels * BLOCK, panel = item % c->panels;
        long end = start + BLOCK < c->pixels ? start + BLOCK : c->pixels;
        for (long first = start; first < end; first += PIXELS) {
            if (c->is_paired) tile(c, first, end, panel, 1, 1);
            else if (c->vectors == 1) tile(c, first, end, panel, 1, 0);
            else tile(c, first, end, panel, 2, 0);
        }
    }
}

/* Pictures [examples, 3, size] to planes of four channels, of which the last stays zero. */
void take_pictures(const float *x, float *y, const int32_t *places, long examples, long size, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long example = 0; example < examples; example++)
        for (long i = 0; i < size; i++)
            for (int c = 0; c < 3; c++) y[places[example * size + i] + c] = x[(example * 3 + c) * size + i];
}

/* Squeeze and excite planes [examples, size, channels] in place; room [examples, 2 * channels + squeezed]. */
void excite(float *x, const float *squeeze, const float *squeeze_bias, const float *excite, const float *excite_bias,
            float *room, long examples, long size, long channels, long squeezed, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long example = 0; example < examples; example++) {
        float *values = x + example * size * channels;
        float *means = room + example * (2 * channels + squeezed), *gates = means + channels, *inner = gates + channels;
        for (long c = 0; c < channels; c++) means[c] = 0;
        for (long i = 0; i < size; i++)
            for (long c = 0; c < channels; c++) means[c] += values[i * channels + c];
        for (long s = 0; s < squeezed; s++) {
            float sum = 0;
            for (long c = 0; c < channels; c++) sum += squeeze[s * channels + c] * means[c];
            sum = sum / (float)size + squeeze_bias[s];
            inner[s] = sum < 0 ? 0 : sum; /* NaN stays */
        }
        for (long c = 0; c < channels; c++) {
            float sum = excite_bias[c];
            for (long s = 0; s < squeezed; s++) sum += excite[c * squeezed + s] * inner[s];
            gates[c] = 1 / (1 + expf(-sum));
        }
        for (long i = 0; i < size; i++)
            for (long c = 0; c < channels; c++) values[i * channels + c] *= gates[c];
    }
}
