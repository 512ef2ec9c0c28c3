#include <stddef.h>
#include <stdint.h>
#include "kernel.h"

// The compiler vectorizes the loops. On Linux, the program chooses between two versions, with and without AVX2, when it starts.
#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__clang__)
#define CLONES __attribute__((target_clones("avx2", "default")))
#else
#define CLONES
#endif

// AHEAD is the distance in bytes at which rows are prefetched. The prefetch of the processor ends at each page.
#define AHEAD 16384

CLONES
void kioku_scores(const int8_t *quantized, const float *scale, const int16_t *query, int dims, int rows, float *out) {
	for (int r = 0; r < rows; r++) {
		const int8_t *row = quantized + (size_t)r * dims;
		int32_t sum = 0;
		for (int i = 0; i < dims; i += 64)
			__builtin_prefetch(row + AHEAD + i);
		for (int i = 0; i < dims; i++)
			sum += (int32_t)row[i] * query[i];
		out[r] = (float)sum * scale[r];
	}
}

// LANES is the number of partial sums: a compiler must not reorder one sum of floats to use SIMD.
#define LANES 16

CLONES
float kioku_quantize(const float *row, int dims, float step, float per, int8_t *quantized) {
	float off[LANES] = {0}, sum = 0;
	int i = 0;
	for (; i + LANES <= dims; i += LANES)
		for (int j = 0; j < LANES; j++) {
			float x = row[i + j], y = x * per;
			int32_t c = (int32_t)(y + (y < 0 ? -0.5f : 0.5f));
			float d = x - (float)c * step;
			quantized[i + j] = (int8_t)c;
			off[j] += d * d;
		}
	for (; i < dims; i++) {
		float x = row[i], y = x * per;
		int32_t c = (int32_t)(y + (y < 0 ? -0.5f : 0.5f));
		float d = x - (float)c * step;
		quantized[i] = (int8_t)c;
		sum += d * d;
	}
	for (int j = 0; j < LANES; j++)
		sum += off[j];
	return sum;
}
