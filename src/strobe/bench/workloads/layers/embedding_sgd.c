/* Sums of rows of a table learn by plain SGD: table[row] -= lr * gradient of each bag that has the row.
 *
 * Out of the box, gradients of rows are written out one by one, sorted and merged before they are applied; here nothing is
 * written but the table. Tables have rows of their own, and so have slices of columns, so that threads never meet.
 */

/* Bags of one table follow each other; grad [tables * bags, width]. Slices are of 16 columns: one line of the cache. */
void embedding_sgd(float *table, const long *rows, const long *offsets, const float *grad, long num_tables, long bags,
                   long num_rows, long width, float lr, int threads) {
    long slices = (width + 15) / 16;
#pragma omp parallel for num_threads(threads) schedule(static)
    for (long item = 0; item < num_tables * slices; item++) {
        long first = item / slices * bags, start = item % slices * 16;
        long columns = width - start < 16 ? width - start : 16;
        for (long bag = first; bag < first + bags; bag++) {
            long end = bag + 1 < num_tables * bags ? offsets[bag + 1] : num_rows;
            const float *g = grad + bag * width + start;
            for (long i = offsets[bag]; i < end; i++) {
                float *row = table + rows[i] * width + start;
                if (i + 8 < num_rows) __builtin_prefetch(table + rows[i + 8] * width + start, 1);
                for (long c = 0; c < columns; c++) row[c] -= lr * g[c];
            }
        }
    }
}
