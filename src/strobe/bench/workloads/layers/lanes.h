/* Vectors of floats of so many BITS, by default as wide as this processor has them: one loop does for 512 bits (AVX-512) and 256
 * (AVX2 with FMA). lanewise(fmadd) is the intrinsic of that name for them.
 */
#include <immintrin.h>

#ifdef __AVX512F__
#define WIDEST 512
#else
#define WIDEST 256
#endif
#define BITS WIDEST
#define LANES (BITS / 32)
#define vector JOINED(__m, BITS, )
#define lanewise(operation) LANEWISE(operation, BITS)
#define LANEWISE(operation, bits) JOINED(_mm, bits, _##operation##_ps)
#define JOINED(left, middle, right) JOIN(left, middle, right)
#define JOIN(left, middle, right) left##middle##right
