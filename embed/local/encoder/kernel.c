/* The builds of the kernel. Each is compiled for its processors, whatever the rest of the program is compiled for. */
#include "encoder.h"

#include <math.h>
#include <string.h>

#define ROUND_UP(n, multiple) (((n) + (multiple) - 1) / (multiple) * (multiple))
#define QUERIES KIOKU_QUERIES

/* Inputs of a matrix that are multiplied before the next ones. */
#define BLOCK_INPUTS 1536

#define ROWS_4(X) X(1) X(2) X(3) X(4)
#define ROWS_6(X) ROWS_4(X) X(5) X(6)
#define ROWS_12(X) ROWS_6(X) X(7) X(8) X(9) X(10) X(11) X(12)

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#include <cpuid.h>
#include <immintrin.h>

static int usable_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vnni");
}

static int usable_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }

static int usable_avxvnni(void) {
  unsigned a = 0, b, c, d;
  return usable_avx2() && __get_cpuid_count(7, 1, &a, &b, &c, &d) && (a >> 4 & 1);
}

#pragma GCC push_options
#pragma GCC target("avx2,fma,avx512f,avx512bw,avx512dq,avx512vl,avx512vnni")
#define NAME avx512
#define TITLE "avx512"
#define LANES 16
#define VECTORS 2
#define ROWS 12
#define EACH_ROW ROWS_12
#define LARGER(a, b) ((vf)_mm512_max_ps((__m512)(a), (__m512)(b)))
#define DOT(sum, a, b) ((vi)_mm512_dpbusd_epi32((__m512i)(sum), (__m512i)(a), (__m512i)(b)))
#define BYTE_ZERO 0
#include "kernel.h"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma,avxvnni")
#define NAME avxvnni
#define TITLE "avx2 with vnni"
#define LANES 8
#define VECTORS 2
#define ROWS 6
#define EACH_ROW ROWS_6
#define LARGER(a, b) ((vf)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define DOT(sum, a, b) ((vi)_mm256_dpbusd_avx_epi32((__m256i)(sum), (__m256i)(a), (__m256i)(b)))
#define BYTE_ZERO 0
#include "kernel.h"
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")

/* dot_avx2 multiplies the sizes of the weights with the bytes of a, which get their signs: the sum of two products fits into 16 bits. */
static inline __attribute__((always_inline)) __m256i dot_avx2(__m256i sum, __m256i a, __m256i weight) {
  __m256i products = _mm256_maddubs_epi16(_mm256_abs_epi8(weight), _mm256_sign_epi8(a, weight));
  return _mm256_add_epi32(sum, _mm256_madd_epi16(products, _mm256_set1_epi16(1)));
}

#define NAME avx2
#define TITLE "avx2"
#define LANES 8
#define VECTORS 2
#define ROWS 6
#define EACH_ROW ROWS_6
#define LARGER(a, b) ((vf)_mm256_max_ps((__m256)(a), (__m256)(b)))
#define DOT(sum, a, b) ((vi)dot_avx2((__m256i)(sum), (__m256i)(a), (__m256i)(b)))
#define BYTE_ZERO 127
#include "kernel.h"
#pragma GCC pop_options
#endif

#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#include <arm_neon.h>
#include <sys/auxv.h>

static int usable_dotprod(void) { return getauxval(AT_HWCAP) >> 20 & 1; } /* HWCAP_ASIMDDP */

#pragma GCC push_options
#pragma GCC target("arch=armv8.2-a+dotprod")
#define NAME dotprod
#define TITLE "neon with dot products"
#define LANES 4
#define VECTORS 4
#define ROWS 6
#define EACH_ROW ROWS_6
#define LARGER(a, b) ((vf)vmaxq_f32((float32x4_t)(a), (float32x4_t)(b)))
#define DOT(sum, a, b) ((vi)vdotq_s32((int32x4_t)(sum), (int8x16_t)(a), (int8x16_t)(b)))
#define BYTE_ZERO 127
#include "kernel.h"
#pragma GCC pop_options
#endif

static int usable_c(void) { return 1; }

/* Plain C, which compilers make NEON or SSE2 of. */
#define NAME c
#ifdef __aarch64__
#define TITLE "neon"
#else
#define TITLE "c"
#endif
#define LANES 4
#define VECTORS 2
#define ROWS 4
#define EACH_ROW ROWS_4
#define LARGER(a, b) F(either)((a) > (b), (a), (b))
#include "kernel.h"

static const KiokuKernel *const kernels[] = {
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
    &kernel_avx512, &kernel_avxvnni, &kernel_avx2,
#endif
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
    &kernel_dotprod,
#endif
    &kernel_c,
};

const KiokuKernel *kioku_kernel(int number) {
  return number < (int)(sizeof kernels / sizeof *kernels) ? kernels[number] : 0;
}
