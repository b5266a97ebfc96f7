/* Batch norm in training over rows of channels, with what is added to it and a ReLU, forward and backward; two passes each.
 *
 * Torch takes a pass of its own for every one of them. Threads share rows; `room` [threads, 2, channels] holds their sums.
 */
#include <math.h>
#include <omp.h>
#include <string.h>

enum { CHUNK = 64 }; /* rows whose sums stay in 32 bits */

typedef struct {
    const float *x, *weight, *bias, *residual; /* residual: or none */
    float *y;                                  /* written forward, read backward */
    float *mean, *inverse, *running_mean, *running_var;
    const float *grad_y;
    float *grad_x, *grad_residual, *grad_weight, *grad_bias; /* grad_residual: or none */
    double *room;
    float *parts; /* [threads, 2, channels] */
    long rows, channels;
    float eps, momentum;
    int is_relu;
} norm;

/* What a ReLU leaves at least; without one NaN, below which nothing is. NaN itself is not below anything and stays. */
static float least_of(const norm *n) { return n->is_relu ? 0 : NAN; }

void norm_forward(const norm *given, int threads) {
    const norm n = *given;
#pragma omp parallel num_threads(threads)
    {
        long me = omp_get_thread_num(), all = omp_get_num_threads(), channels = n.channels;
        double *sums = n.room + 2 * me * channels;
        float *restrict part = n.parts + 2 * me * channels, *restrict square = part + channels;
        long end = n.rows * (me + 1) / all;
        memset(sums, 0, 2 * channels * sizeof *sums);
        for (long start = n.rows * me / all; start < end; start += CHUNK) {
            memset(part, 0, 2 * channels * sizeof *part);
            for (long row = start; row < end && row < start + CHUNK; row++) {
                const float *restrict x = n.x + row * channels;
                for (long c = 0; c < channels; c++) {
                    part[c] += x[c];
                    square[c] += x[c] * x[c];
                }
            }
            for (long c = 0; c < 2 * channels; c++) sums[c] += part[c];
        }
#pragma omp barrier
#pragma omp for
        for (long c = 0; c < channels; c++) {
            double sum = 0, squares = 0;
            for (long t = 0; t < all; t++) {
                sum += n.room[2 * t * channels + c];
                squares += n.room[(2 * t + 1) * channels + c];
            }
            double mean = sum / n.rows, variance = squares / n.rows - mean * mean;
            n.mean[c] = (float)mean;
            n.inverse[c] = (float)(1 / sqrt((variance < 0 ? 0 : variance) + n.eps));
            n.running_mean[c] += n.momentum * ((float)mean - n.running_mean[c]);
            n.running_var[c] += n.momentum * ((float)(variance * n.rows / (n.rows - 1)) - n.running_var[c]);
        }
        float *restrict scale = part, *restrict shift = square, least = least_of(&n);
        for (long c = 0; c < channels; c++) {
            scale[c] = n.weight[c] * n.inverse[c];
            shift[c] = n.bias[c] - n.mean[c] * scale[c];
        }
#pragma omp for schedule(static)
        for (long row = 0; row < n.rows; row++) {
            const float *restrict x = n.x + row * channels;
            const float *restrict beside = n.residual ? n.residual + row * channels : 0;
            float *restrict y = n.y + row * channels;
            if (beside)
                for (long c = 0; c < channels; c++) {
                    float value = x[c] * scale[c] + shift[c] + beside[c];
                    y[c] = value < least ? least : value;
                }
            else
                for (long c = 0; c < channels; c++) {
                    float value = x[c] * scale[c] + shift[c];
                    y[c] = value < least ? least : value;
                }
        }
    }
}

/* A row's gradient past the ReLU, and what it adds to the sums. A function of its own: with so many pointers gcc sees nothing to
 * vectorise in a loop within loops. The gradient is read in any case, since a load that depends on y keeps vectors away, too. */
static void undo_relu(const float *restrict x, const float *restrict y, const float *restrict grad_y, const float *restrict mean,
                      float *restrict grad, float *restrict part, float *restrict along, long channels, float least) {
    for (long c = 0; c < channels; c++) {
        float seen = grad_y[c], g = y[c] <= least ? 0 : seen;
        grad[c] = g;
        part[c] += g;
        along[c] += g * (x[c] - mean[c]);
    }
}

void norm_backward(const norm *given, int threads) {
    const norm n = *given;
#pragma omp parallel num_threads(threads)
    {
        long me = omp_get_thread_num(), all = omp_get_num_threads(), channels = n.channels;
        double *sums = n.room + 2 * me * channels;
        float *restrict part = n.parts + 2 * me * channels, *restrict along = part + channels;
        float least = least_of(&n);
        long end = n.rows * (me + 1) / all;
        memset(sums, 0, 2 * channels * sizeof *sums);
        for (long start = n.rows * me / all; start < end; start += CHUNK) {
            memset(part, 0, 2 * channels * sizeof *part);
            for (long row = start; row < end && row < start + CHUNK; row++) {
                long at = row * channels;
                float *grad = (n.grad_residual ? n.grad_residual : n.grad_x) + at;
                undo_relu(n.x + at, n.y + at, n.grad_y + at, n.mean, grad, part, along, channels, least);
            }
            for (long c = 0; c < 2 * channels; c++) sums[c] += part[c];
        }
#pragma omp barrier
#pragma omp for
        for (long c = 0; c < channels; c++) {
            double sum = 0, products = 0;
            for (long t = 0; t < all; t++) {
                sum += n.room[2 * t * channels + c];
                products += n.room[(2 * t + 1) * channels + c];
            }
            n.grad_bias[c] = (float)sum;
            n.grad_weight[c] = (float)(products * n.inverse[c]);
        }
        float *restrict slope = part, *restrict shift = along;
        for (long c = 0; c < channels; c++) {
            slope[c] = -n.grad_weight[c] * n.inverse[c] / (float)n.rows;
            shift[c] = -n.grad_bias[c] / (float)n.rows - slope[c] * n.mean[c];
        }
        const float *restrict weight = n.weight, *restrict inverse = n.inverse;
#pragma omp for schedule(static)
        for (long row = 0; row < n.rows; row++) {
            const float *restrict x = n.x + row * channels;
            const float *grad = (n.grad_residual ? n.grad_residual : n.grad_x) + row * channels; /* may be grad_x */
            float *grad_x = n.grad_x + row * channels;
#pragma GCC ivdep
            for (long c = 0; c < channels; c++)
                grad_x[c] = weight[c] * inverse[c] * (grad[c] + x[c] * slope[c] + shift[c]);
        }
    }
}
