/* What stands between the tables of DLRM and its top MLP: all pairs of pooled rows are multiplied.
 *
 * Out of the box these are a dozen calls on small tensors, which take longer to begin than to do. Examples are
 * independent, so that threads share them.
 */

/* y [bags, width + pairs]: dense features, then the products of vector i with all before it; vector 0 is the dense one. */
void multiply_pairs(const float *dense, const float *pooled, float *y, long num_tables, long bags, long width,
                    int threads) {
    long line = width + num_tables * (num_tables + 1) / 2;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long bag = 0; bag < bags; bag++) {
        const float *first = dense + bag * width;
        float *to = y + bag * line;
        for (long c = 0; c < width; c++) *to++ = first[c];
        for (long i = 0; i < num_tables; i++) {
            const float *one = pooled + (i * bags + bag) * width;
            for (long j = -1; j < i; j++) {
                const float *other = j < 0 ? first : pooled + (j * bags + bag) * width;
                float sum = 0;
                for (long c = 0; c < width; c++) sum += one[c] * other[c];
                *to++ = sum;
            }
        }
    }
}
