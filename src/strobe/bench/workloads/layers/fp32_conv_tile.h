/* Some pixels by one panel in vectors of BITS: part of fp32_conv.c, which takes it for every width of vectors that it needs. */

static inline __attribute__((always_inline)) vector JOINED(fetch_, BITS, )(const float *from, int is_paired) {
#if BITS == 256
    if (is_paired) return _mm256_set_m128(_mm_broadcast_ss(from + 4), _mm_broadcast_ss(from));
#endif
    return lanewise(set1)(*from);
}

/* Outputs are a multiple of eight, so that the last vector of 512 bits may be half empty. */
static inline __attribute__((always_inline)) void JOINED(finish_, BITS, )(const convolution *c, vector sum, long pixel,
                                                                          long column) {
    const float *residual = c->residual ? c->residual + pixel * c->outputs + column : 0;
    float *to = c->y + c->places[pixel] + column;
    vector zero = lanewise(setzero)();
#if BITS == 512
    __mmask16 there = c->outputs - column < LANES ? 0xff : 0xffff;
    if (residual) sum = _mm512_add_ps(sum, _mm512_maskz_loadu_ps(there, residual));
    if (c->is_relu) sum = _mm512_max_ps(zero, sum);
    _mm512_mask_storeu_ps(to, there, sum);
#else
    if (residual) sum = _mm256_add_ps(sum, _mm256_loadu_ps(residual));
    if (c->is_relu) sum = _mm256_max_ps(zero, sum);
    _mm256_storeu_ps(to, sum);
#endif
}

static inline __attribute__((always_inline)) void JOINED(tile_, BITS, )(const convolution *c, long first, long end,
                                                                        long panel, int vectors, int is_paired) {
    long width = 8 * c->vectors, column = panel * width;
    const float *w = c->w + column * c->num_steps, *x[PIXELS];
    vector sums[PIXELS][VECTORS];
#pragma GCC unroll 6
    for (int i = 0; i < PIXELS; i++) {
        x[i] = c->x + c->windows[first + i < end ? first + i : end - 1] + c->starts[panel];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) sums[i][v] = lanewise(loadu)(c->biases + column + LANES * v);
    }
    for (long step = 0; step < c->num_steps; step++, w += width) {
        long here = c->steps[step];
        vector weights[VECTORS];
#pragma GCC unroll 4
        for (int v = 0; v < vectors; v++) weights[v] = lanewise(loadu)(w + LANES * v);
#pragma GCC unroll 6
        for (int i = 0; i < PIXELS; i++) {
            vector value = JOINED(fetch_, BITS, )(x[i] + here, is_paired);
#pragma GCC unroll 4
            for (int v = 0; v < vectors; v++) sums[i][v] = lanewise(fmadd)(value, weights[v], sums[i][v]);
        }
    }
#pragma GCC unroll 4
    for (int v = 0; v < vectors; v++)
#pragma GCC unroll 6
        for (int i = 0; i < PIXELS; i++)
            if (first + i < end) JOINED(finish_, BITS, )(c, sums[i][v], first + i, column + LANES * v);
}
