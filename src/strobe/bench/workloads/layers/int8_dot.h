/* Eight products of unsigned by signed bytes for each of eight sums of 32 bits, four of `a` by `left`, four of `b` by `right`.
 *
 * With VNNI, a step of four is one instruction. Without it, vpmaddubsw multiplies and adds pairs in 16 bits. `a` and `b` take
 * 0..127 and weights -63..63, so that two such pairs still fit: 4 * 127 * 63 < 2^15. Sums are widened to 32 bits after eight
 * products instead of every four, which is what makes this faster than kernels for full 8 bits. Both ways are exact.
 */
#include <immintrin.h>

#if defined(__AVX512VNNI__) && defined(__AVX512VL__)
#define HAS_VNNI
#endif

static inline __attribute__((always_inline)) __m256i dot(__m256i sums, __m256i a, __m256i left, __m256i b, __m256i right) {
#ifdef HAS_VNNI
    return _mm256_dpbusd_epi32(_mm256_dpbusd_epi32(sums, a, left), b, right);
#else
    __m256i both = _mm256_add_epi16(_mm256_maddubs_epi16(a, left), _mm256_maddubs_epi16(b, right));
    return _mm256_add_epi32(sums, _mm256_madd_epi16(both, _mm256_set1_epi16(1)));
#endif
}
