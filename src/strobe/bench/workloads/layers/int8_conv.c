/* Convolutions of 7-bit values in channels-last planes, from one to the next without ever leaving 7 bits; AVX2, or
 * VNNI where there is.
 *
 * Values take 0..127 and weights -63..63, as int8_dot.h asks for.
 * Every convolution is the same loop, dense or grouped, over space or over space and time: tables say where the window of
 * a pixel begins and where in a window each four channels lie, and four channels by eight or sixteen outputs are a step.
 */
#include "int8_dot.h"
#include <math.h>
#include <stdint.h>
#include <string.h>

enum { PIXELS = 6, BLOCK = 48 };

typedef struct {
    const uint8_t *x;
    const int32_t *windows; /* [pixels]: where in x the window of an output begins */
    const int32_t *steps;   /* [num_steps], an even number: where in a window four channels lie */
    const int32_t *starts;  /* [panels]: the first channel that the outputs of a panel see */
    const int8_t *w;        /* [panels][num_steps][8 * vectors][4] */
    const float *scales, *biases;
    const int16_t *residual; /* [pixels, outputs], or none; counts `residual_scale` a unit */
    uint8_t *y;              /* what comes out in 7 bits, a pixel at places[pixel]; or none */
    const int32_t *places;
    int16_t *precise; /* the same in 16 bits, [pixels, outputs], 64 units to one of y; or none */
    long pixels, num_steps, panels, outputs;
    float residual_scale;
    int vectors;   /* of eight outputs in a panel: 1 or 2 */
    int is_paired; /* a vector is two groups of four channels each */
    int is_relu;
} convolution;

static inline __attribute__((always_inline)) __m256i fetch(const uint8_t *from, int is_paired) {
    if (is_paired)
        return _mm256_permutevar8x32_epi32(_mm256_castsi128_si256(_mm_loadl_epi64((const __m128i *)from)),
                                           _mm256_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1));
    int32_t four;
    memcpy(&four, from, 4);
    return _mm256_set1_epi32(four);
}

/* Eight sums of a pixel, scaled, with what stands beside them. */
static inline __attribute__((always_inline)) __m256 scale(const convolution *c, __m256i sums, long pixel, long column) {
    __m256 values = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sums), _mm256_loadu_ps(c->scales + column),
                                    _mm256_loadu_ps(c->biases + column));
    if (c->residual) {
        __m128i units = _mm_loadu_si128((const __m128i *)(c->residual + pixel * c->outputs + column));
        values = _mm256_fmadd_ps(_mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(units)), _mm256_set1_ps(c->residual_scale), values);
    }
    return values;
}

/* To whole numbers of 16 bits, saturated. */
static inline __attribute__((always_inline)) __m128i words(const convolution *c, __m256 values) {
    __m256i units = _mm256_cvtps_epi32(values);
    __m128i found = _mm_packs_epi32(_mm256_castsi256_si128(units), _mm256_extracti128_si256(units, 1));
    return c->is_relu ? _mm_max_epi16(found, _mm_setzero_si128()) : found;
}

static inline __attribute__((always_inline)) void finish(const convolution *c, const __m256i *sums, long pixel,
                                                          long column, int vectors) {
    __m128i seven[2] = {0};
#pragma GCC unroll 2
    for (int v = 0; v < vectors; v++) {
        __m256 values = scale(c, sums[v], pixel, column + 8 * v);
        if (c->precise)
            _mm_storeu_si128((__m128i *)(c->precise + pixel * c->outputs + column + 8 * v),
                             words(c, _mm256_mul_ps(values, _mm256_set1_ps(64))));
        if (c->y) seven[v] = words(c, values);
    }
    if (!c->y) return;
    __m128i *to = (__m128i *)(c->y + c->places[pixel] + column);
    if (vectors == 2) _mm_storeu_si128(to, _mm_packs_epi16(seven[0], seven[1])); /* saturates at 127 */
    else _mm_storel_epi64(to, _mm_packs_epi16(seven[0], seven[0]));
}

/* Six pixels from `first` (those beyond `end` are the last again) by one panel. */
static inline __attribute__((always_inline)) void tile(const convolution *c, long first, long end, long panel,
                                                        int vectors, int is_paired) {
    const __m256i *w = (const __m256i *)c->w + panel * c->num_steps * vectors;
    const uint8_t *x[PIXELS];
    __m256i sums[PIXELS][2];
#pragma GCC unroll 6
    for (int i = 0; i < PIXELS; i++) {
        x[i] = c->x + c->windows[first + i < end ? first + i : end - 1] + c->starts[panel];
        sums[i][0] = sums[i][1] = _mm256_setzero_si256();
    }
    for (long step = 0; step < c->num_steps; step += 2, w += 2 * vectors) {
        long here = c->steps[step], there = c->steps[step + 1];
        __m256i left[2], right[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++) {
            left[v] = _mm256_load_si256(w + v);
            right[v] = _mm256_load_si256(w + vectors + v);
        }
#pragma GCC unroll 6
        for (int i = 0; i < PIXELS; i++) {
            __m256i a = fetch(x[i] + here, is_paired), b = fetch(x[i] + there, is_paired);
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++) sums[i][v] = dot(sums[i][v], a, left[v], b, right[v]);
        }
    }
    long column = panel * vectors * 8, count = end - first < PIXELS ? end - first : PIXELS;
    if (vectors == 2 && column + 8 == c->outputs)
        for (int i = 0; i < count; i++) finish(c, sums[i], first + i, column, 1);
    else
        for (int i = 0; i < count; i++) finish(c, sums[i], first + i, column, vectors);
}

/* Threads share blocks of pixels and, within them, panels. */
void convolve(const convolution *given, int threads) {
    const convolution copy = *given; /* one that stored bytes cannot be part of, as far as the compiler knows */
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

/* Pictures [examples, 3, size] to planes of four channels, the last of them zero; x = (q - 64) / inverse. 7 bits know
 * neither NaN nor infinity: faults [examples] are NaN where a picture has one, else zero. */
void take_pictures(const float *x, uint8_t *y, const int32_t *places, float *faults, long examples, long size,
                   float inverse, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long example = 0; example < examples; example++) {
        float fault = 0;
        for (long i = 0; i < size; i++) {
            uint8_t *to = y + places[example * size + i];
            for (int c = 0; c < 3; c++) {
                float value = x[(example * 3 + c) * size + i] * inverse + 64.5f;
                fault += 0 * value;
                to[c] = (uint8_t)(value < 0 ? 0 : value > 127 ? 127 : value);
            }
        }
        faults[example] = fault;
    }
}

/* Squeeze and excite planes [examples, size, channels] in place; room [examples, channels + squeezed] and
 * whole [examples, channels]. Gates are whole numbers of 1 / 256. */
void excite(uint8_t *x, const float *squeeze, const float *squeeze_bias, const float *excite, const float *excite_bias,
            float *room, int16_t *whole, long examples, long size, long channels, long squeezed, float mean_scale,
            float ratio, int threads) {
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long example = 0; example < examples; example++) {
        uint8_t *values = x + example * size * channels;
        float *means = room + example * (channels + squeezed), *inner = means + channels;
        int16_t *part = whole + example * channels, *gates = part;
        for (long c = 0; c < channels; c++) means[c] = 0;
        for (long start = 0; start < size; start += 256) { /* as many as 16 bits can add up */
            long end = start + 256 < size ? start + 256 : size;
            for (long c = 0; c < channels; c++) part[c] = 0;
            for (long i = start; i < end; i++)
                for (long c = 0; c < channels; c++) part[c] += values[i * channels + c];
            for (long c = 0; c < channels; c++) means[c] += mean_scale * (float)part[c];
        }
        for (long s = 0; s < squeezed; s++) {
            float sum = squeeze_bias[s];
            for (long c = 0; c < channels; c++) sum += squeeze[s * channels + c] * means[c];
            inner[s] = sum > 0 ? sum : 0;
        }
        for (long c = 0; c < channels; c++) {
            float sum = excite_bias[c];
            for (long s = 0; s < squeezed; s++) sum += excite[c * squeezed + s] * inner[s];
            float gate = 256 * ratio / (1 + expf(-sum));
            gates[c] = (int16_t)lrintf(gate < 32767 ? gate : 32767);
        }
        for (long i = 0; i < size; i++)
            for (long c = 0; c < channels; c += 8) {
                __m128i *at = (__m128i *)(values + i * channels + c);
                __m128i raised = _mm_slli_epi16(_mm_cvtepu8_epi16(_mm_loadl_epi64(at)), 7);
                __m128i gated = _mm_mulhrs_epi16(raised, _mm_loadu_si128((const __m128i *)(gates + c)));
                _mm_storel_epi64(at, _mm_packs_epi16(gated, gated));
            }
    }
}
