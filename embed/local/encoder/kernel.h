/* The arithmetic of the forward pass. kernel.c includes this file once for each kind of processor, with these macros:
   NAME      the end of the names of its functions
   LANES     numbers in a vector
   VECTORS   vectors in a row of a tile
   ROWS      rows of a tile; the tile and one row of weights fit into the registers
   LARGER    the larger numbers of two vectors
   DOT       adds the products of four bytes and four signed bytes to each number of a vector; not defined if that is not fast
   BYTE_ZERO what is taken from a byte of 0 to 254 before DOT: 0 if DOT takes unsigned bytes, 127 if it takes -127 to 127 */

#define JOIN2(a, b) a##_##b
#define JOIN(a, b) JOIN2(a, b)
#define F(name) JOIN(name, NAME)
#define COLUMNS (LANES * VECTORS)
#define INLINE static inline __attribute__((always_inline))

typedef float F(vf) __attribute__((vector_size(4 * LANES)));
typedef int32_t F(vi) __attribute__((vector_size(4 * LANES)));
typedef float F(loadf) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
typedef int32_t F(loadi) __attribute__((vector_size(4 * LANES), aligned(1), may_alias));
#define vf F(vf)
#define vi F(vi)

INLINE vf F(load)(const float *p) { return *(const F(loadf) *)p; }
INLINE void F(store)(float *p, vf v) { *(F(loadf) *)p = v; }
INLINE vf F(all)(float x) { return x - (vf){0}; }
INLINE vi F(int_all)(int32_t x) { return x - (vi){0}; }
INLINE vf F(either)(vi mask, vf a, vf b) { return (vf)((mask & (vi)a) | (~mask & (vi)b)); }

/* keep sets the numbers from a position on to another number. */
INLINE vf F(keep)(vf v, int from, float other) {
  if (from >= LANES) return v;
  vi index;
  for (int i = 0; i < LANES; i++) index[i] = i;
  return F(either)(index < from, v, F(all)(other));
}

INLINE float F(sum)(vf v) {
  float sum = 0;
  for (int i = 0; i < LANES; i++) sum += v[i];
  return sum;
}

INLINE float F(highest)(vf v) {
  float highest = v[0];
  for (int i = 1; i < LANES; i++) highest = v[i] > highest ? v[i] : highest;
  return highest;
}

/* exp is e^x with a relative error below 2^-22 for x of -87 to 88, and e^-87 below: 2^n e^r with |r| <= log(2)/2, and e^r as its
   Taylor series. */
INLINE vf F(exp)(vf x) {
  x = LARGER(x, F(all)(-87));
  const vf magic = F(all)(12582912); /* 1.5 * 2^23: adding it rounds to an integer, which is in the lower bits then */
  vf shifted = x * 1.44269504f + magic, n = shifted - magic;
  vf r = x - n * 0.693359375f + n * 2.12194440e-4f; /* log 2 in two parts */
  vf p = 1 + r * (1 + r * (0.5f + r * (1.66666667e-1f + r * (4.16666667e-2f + r * (8.33333333e-3f + r * 1.38888889e-3f)))));
  return (vf)((vi)p + (((vi)shifted - (vi)magic) << 23));
}

/* gelu is x times the probability P that a normally distributed number is below x, with an error below 1.5e-6: x (1/2 + x p), where
   p = (P - 1/2) / x, a function of x^2, is a polynomial fitted for |x| <= 5 with an error weighted by x^2. */
INLINE vf F(gelu)(vf x) {
  vf near = LARGER(x, F(all)(-5));
  near = -LARGER(-near, F(all)(-5));
  vf w = near * near * 0.08f - 1; /* x^2 of 0 to 25 as -1 to 1 */
  vf p = -1.514283458e-3f + w * 4.930601250e-4f;
  p = -1.097342274e-2f + w * (6.165499879e-3f + w * (-2.915407687e-3f + w * (2.001707896e-3f + w * p)));
  p = -4.043295619e-2f + w * (3.142622317e-2f + w * (-2.333667337e-2f + w * (1.649765836e-2f + w * p)));
  p = 1.413637804e-1f + w * (-7.029665218e-2f + w * (5.152142170e-2f + w * p));
  return x * (0.5f + near * p);
}

/* gelu_tanh is x/2 (1 + tanh u) = x / (1 + e^(-2u)) with u = sqrt(2/pi) (x + 0.044715 x^3). */
INLINE vf F(gelu_tanh)(vf x) {
  vf minus2u = -1.59576912f * (x + 0.044715f * x * x * x);
  return x / (1 + F(exp)(-LARGER(-minus2u, F(all)(-88))));
}

/* activate replaces the numbers of some columns by an activation function of them. */
static void F(activate)(float *c, long stride, int rows, int columns, int activation) {
  for (int r = 0; r < rows; r++, c += stride) {
    for (int i = 0; i < columns; i += LANES) {
      vf x = F(load)(c + i);
      x = activation == KIOKU_GELU ? F(gelu)(x) : activation == KIOKU_RELU ? LARGER(x, F(all)(0)) : F(gelu_tanh)(x);
      F(store)(c + i, x);
    }
  }
}

/* tile computes a few rows of c, a panel wide: start, plus a times the panel. */
INLINE void F(tile)(const int rows, const float *a, long a_stride, const float *panel, int inputs, const float *start, long start_stride,
                    float *c, long c_stride) {
  vf sum[ROWS][VECTORS];
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++) sum[r][v] = F(load)(start + r * start_stride + v * LANES);
  for (int i = 0; i < inputs; i++, panel += COLUMNS) {
    vf weight[VECTORS];
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++) weight[v] = F(load)(panel + v * LANES);
#pragma GCC unroll 16
    for (int r = 0; r < rows; r++) {
      vf x = F(all)(a[r * a_stride + i]);
#pragma GCC unroll 16
      for (int v = 0; v < VECTORS; v++) sum[r][v] += x * weight[v];
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; r++)
#pragma GCC unroll 16
    for (int v = 0; v < VECTORS; v++) F(store)(c + r * c_stride + v * LANES, sum[r][v]);
}

#define TILE(n) case n: F(tile)(n, a, a_stride, panel, inputs, start, start_stride, c, c_stride); break;

/* rows is tile for a number of rows that is not known before. */
static void F(rows)(int rows, const float *a, long a_stride, const float *panel, int inputs, const float *start, long start_stride,
                    float *c, long c_stride) {
  int tiles = (rows + ROWS - 1) / ROWS;
  for (int t = tiles; t > 0; t--) {
    int n = (rows + t - 1) / t; /* tiles of about the same height */
    switch (n) { EACH_ROW(TILE) }
    a += n * a_stride, start += n * start_stride, c += n * c_stride, rows -= n;
  }
}

/* multiply computes panels of outputs for some rows. It reads so many inputs at a time that they stay in the cache. */
static void F(multiply)(const KiokuLinear *l, const float *a, long a_stride, float *c, long c_stride, int rows, int from, int to) {
  int blocks = (l->inputs + BLOCK_INPUTS - 1) / BLOCK_INPUTS, size = (l->inputs + blocks - 1) / blocks;
  for (int i = 0; i < l->inputs; i += size) {
    int inputs = l->inputs - i < size ? l->inputs - i : size;
    for (int p = from; p < to; p++) {
      const float *panel = (const float *)l->panels + ((long)p * l->inputs + i) * COLUMNS;
      float *out = c + p * COLUMNS;
      if (i == 0) {
        F(rows)(rows, a, a_stride, panel, inputs, l->bias + p * COLUMNS, 0, out, c_stride);
      } else {
        F(rows)(rows, a + i, a_stride, panel, inputs, out, c_stride, out, c_stride);
      }
    }
  }
}

/* normalize gives each row of x + y the mean 0 and the variance 1, and then a scale and a shift. y may be 0. */
static void F(normalize)(float *x, const float *y, long stride, int rows, int dims, float epsilon, const float *scale, const float *shift) {
  for (int r = 0; r < rows; r++, x += stride) {
    vf sum = {0}, squares = {0};
    for (int i = 0; i < dims; i += LANES) {
      vf v = F(load)(x + i);
      if (y) v += F(load)(y + r * stride + i);
      v = F(keep)(v, dims - i, 0);
      F(store)(x + i, v);
      sum += v;
    }
    float mean = F(sum)(sum) / dims;
    for (int i = 0; i < dims; i += LANES) {
      vf d = F(keep)(F(load)(x + i) - mean, dims - i, 0);
      squares += d * d;
    }
    float inverse = 1 / sqrtf(F(sum)(squares) / dims + epsilon);
    for (int i = 0; i < dims; i += LANES)
      F(store)(x + i, (F(load)(x + i) - mean) * inverse * F(load)(scale + i) + F(load)(shift + i));
  }
}

/* softmax replaces each row by e^(x - highest x), and writes 1 / the sum of the row. */
static void F(softmax)(float *scores, long stride, int rows, int columns, float *inverse) {
  for (int r = 0; r < rows; r++, scores += stride) {
    vf highest = F(all)(-1e30f), sum = {0};
    for (int i = 0; i < columns; i += LANES) {
      vf x = F(keep)(F(load)(scores + i), columns - i, -1e30f);
      F(store)(scores + i, x);
      highest = LARGER(highest, x);
    }
    vf base = F(all)(F(highest)(highest));
    for (int i = 0; i < columns; i += LANES) {
      vf p = F(keep)(F(exp)(F(load)(scores + i) - base), columns - i, 0);
      F(store)(scores + i, p);
      sum += p;
    }
    inverse[r] = 1 / F(sum)(sum);
  }
}

/* pack_keys packs the keys of a head as the rows of a matrix, and pack_values the values as its columns. */
static void F(pack_keys)(const float *keys, long stride, int tokens, int dims, float *panels) {
  for (int t = 0; t < ROUND_UP(tokens, COLUMNS); t++) {
    float *column = panels + (long)(t / COLUMNS) * COLUMNS * dims + t % COLUMNS;
    for (int i = 0; i < dims; i++) column[i * COLUMNS] = t < tokens ? keys[t * stride + i] : 0;
  }
}

static void F(pack_values)(const float *values, long stride, int tokens, int dims, float *panels) {
  for (int i = 0; i < dims; i += COLUMNS) {
    int n = dims - i < COLUMNS ? dims - i : COLUMNS;
    for (int t = 0; t < tokens; t++, panels += COLUMNS) {
      if (n < COLUMNS) memset(panels, 0, COLUMNS * sizeof(float));
      memcpy(panels, values + t * stride + i, n * sizeof(float));
    }
  }
}

/* attend computes a head for the tokens of a text: out is the values, weighted by the softmax of query times key. */
static void F(attend)(const float *query, const float *key, const float *value, long stride, int tokens, int dims, float *out,
                      long out_stride, float *memory) {
  static const float zero[COLUMNS];
  int wide = ROUND_UP(tokens, COLUMNS), deep = ROUND_UP(dims, COLUMNS);
  float *keys = memory, *values = keys + (long)wide * dims, *scores = values + (long)tokens * deep, *result = scores + (long)QUERIES * wide;
  float inverse[QUERIES];
  F(pack_keys)(key, stride, tokens, dims, keys);
  F(pack_values)(value, stride, tokens, dims, values);
  for (int q = 0; q < tokens; q += QUERIES) {
    int rows = tokens - q < QUERIES ? tokens - q : QUERIES;
    for (int t = 0; t < wide; t += COLUMNS)
      F(rows)(rows, query + q * stride, stride, keys + (long)t * dims, dims, zero, 0, scores + t, wide);
    F(softmax)(scores, wide, rows, tokens, inverse);
    for (int i = 0; i < deep; i += COLUMNS)
      F(rows)(rows, scores, wide, values + (long)i * tokens, tokens, zero, 0, result + i, deep);
    for (int r = 0; r < rows; r++)
      for (int i = 0; i < dims; i++) out[(q + r) * out_stride + i] = result[r * deep + i] * inverse[r];
  }
}

#ifdef DOT
#include "kernel_int8.h"
#endif

static const KiokuKernel F(kernel) = {
    TITLE, COLUMNS, F(usable), F(multiply), F(activate), F(normalize), F(attend),
#ifdef DOT
    F(quantize), F(multiply_int8),
#endif
};

#undef vf
#undef vi
#undef TILE
#undef F
#undef JOIN
#undef JOIN2
#undef COLUMNS
#undef INLINE
#undef NAME
#undef TITLE
#undef LANES
#undef VECTORS
#undef ROWS
#undef EACH_ROW
#undef LARGER
#undef DOT
#undef BYTE_ZERO
