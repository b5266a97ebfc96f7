/* Vectors of floats as wide as this processor has them, so that one loop does for 512 bits (AVX-512) and 256 (AVX2 with FMA).
 *
 * lanewise(fmadd) is the intrinsic of that name for them.
 */
#include <immintrin.h>

#ifdef __AVX512F__
typedef __m512 vector;
enum { LANES = 16 };
#define lanewise(operation) _mm512_##operation##_ps
#else
typedef __m256 vector;
enum { LANES = 8 };
#define lanewise(operation) _mm256_##operation##_ps
#endif
