/* Convolutions of channels-last planes in 32 bits; AVX-512, or AVX2 with FMA. The loop of int8_conv.c, a channel a step.
 *
 * Weights lie in panels from the start, and bias, shortcut and ReLU are done before anything is stored.
 */
#include "lanes.h"
#include <math.h>
#include <stdint.h>

#if BITS == 512
enum { VECTORS = 4 }; /* of a panel at most */
#else
enum { VECTORS = 2 };
#endif
enum { PIXELS = 6, BLOCK = 48, WIDE_LANES = LANES };

/* What Python lays out by: of eight outputs. */
const int vectors_of_panel = VECTORS * LANES / 8;

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

#include "fp32_conv_tile.h"
#if BITS > 256 /* for groups of eight outputs, or of four: wider vectors would be half empty */
#undef BITS
#define BITS 256
#include "fp32_conv_tile.h"
#endif

static inline void tile(const convolution *c, long first, long end, long panel) {
    long width = 8 * c->vectors, left = c->outputs - panel * width, columns = left < width ? left : width;
    if (c->is_paired) tile_256(c, first, end, panel, 1, 1);
    else if (c->vectors == 1) tile_256(c, first, end, panel, 1, 0);
    else switch ((columns + WIDE_LANES - 1) / WIDE_LANES) {
#if WIDEST == 512
        case 4: tile_512(c, first, end, panel, 4, 0); break;
        case 3: tile_512(c, first, end, panel, 3, 0); break;
#endif
        case 2: JOINED(tile_, WIDEST, )(c, first, end, panel, 2, 0); break;
        default: JOINED(tile_, WIDEST, )(c, first, end, panel, 1, 0);
    }
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
        for (long first = start; first < end; first += PIXELS) tile(c, first, end, panel);
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
