/* The multiplication of integers of 8 bits. A part of kernel.h. */

typedef uint8_t F(bytes) __attribute__((vector_size(LANES)));

INLINE vi F(load_int)(const void *p) { return *(const F(loadi) *)p; }

/* quantize writes the rows of x as bytes: x is about scale * (byte - zero). */
static void F(quantize)(const float *x, long stride, int rows, int dims, uint8_t *bytes, long byte_stride, float *scale, int32_t *zero) {
  for (int r = 0; r < rows; r++, x += stride, bytes += byte_stride) {
    vf high = {0}, low = {0};
    for (int i = 0; i < dims; i += LANES) {
      vf v = F(keep)(F(load)(x + i), dims - i, 0);
      high = LARGER(high, v);
      low = LARGER(low, -v);
    }
    float lowest = F(highest)(low), range = F(highest)(high) + lowest, inverse = range > 1e-30f ? 254 / range : 0;
    float at = (float)(int32_t)(lowest * inverse + 0.5f);
    scale[r] = range / 254;
    zero[r] = (int32_t)at - BYTE_ZERO;
    for (int i = 0; i < dims; i += LANES) {
      vi v = __builtin_convertvector(F(load)(x + i) * inverse + (at + 0.5f), vi);
      v += v > 254; /* two roundings can make 255 of 254 */
      F(bytes) b = __builtin_convertvector(v - BYTE_ZERO, F(bytes));
      memcpy(bytes + i, &b, sizeof b);
    }
  }
}

/* tile_int8 computes a few rows of c, a panel wide, for inputs in groups of four. */
INLINE void F(tile_int8)(const int rows, const uint8_t *a, long a_stride, const int8_t *panel, int groups, const KiokuLinear *l, int from,
                         const float *scale, const int32_t *zero, float *c, long c_stride) {
  vi sum[ROWS][VECTORS];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++) sum[r][v] = F(int_all)(0);
  for (int g = 0; g < groups; g++, panel += 4 * COLUMNS) {
    vi weight[VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++) weight[v] = F(load_int)(panel + 4 * v * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      int32_t four;
      memcpy(&four, a + r * a_stride + 4 * g, 4);
#pragma GCC unroll 16
      for (int v = 0; v < VECTORS; v++) sum[r][v] = DOT(sum[r][v], F(int_all)(four), weight[v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++) {
      int at = from + v * LANES;
      vf product = __builtin_convertvector(sum[r][v] - zero[r] * F(load_int)(l->sum + at), vf);
      F(store)(c + r * c_stride + v * LANES, product * (scale[r] * F(load)(l->scale + at)) + F(load)(l->bias + at));
    }
}

#define TILE_INT8(n) case n: F(tile_int8)(n, a, a_stride, panel, groups, l, p * COLUMNS, s, z, out, c_stride); break;

/* multiply_int8 computes panels of outputs for some rows, which are scale * (a - zero). */
static void F(multiply_int8)(const KiokuLinear *l, const uint8_t *bytes, long a_stride, const float *scale, const int32_t *zero, float *c,
                             long c_stride, int rows, int from, int to) {
  int groups = (l->inputs + 3) / 4, tiles = (rows + ROWS - 1) / ROWS;
  for (int p = from; p < to; p++) {
    const int8_t *panel = (const int8_t *)l->panels + (long)p * groups * 4 * COLUMNS;
    int done = 0;
    for (int t = tiles; t > 0; t--) {
      int n = (rows - done + t - 1) / t;
      const uint8_t *a = bytes + done * a_stride;
      const float *s = scale + done;
      const int32_t *z = zero + done;
      float *out = c + done * c_stride + p * COLUMNS;
      switch (n) { EACH_ROW(TILE_INT8) }
      done += n;
    }
  }
}

#undef TILE_INT8
