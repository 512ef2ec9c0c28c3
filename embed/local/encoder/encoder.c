/* The weights of a model, and the order of the steps of the forward pass. */
#include "encoder.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* The columns of matrices in the arena are a multiple of this, which all kernels' panels divide. The distance of two rows is one
   cache line more, so that rows do not compete for the same lines of the cache. */
#define COLUMNS 32
#define CACHE_LINE 16

/* Rows of a batch that are multiplied with a matrix before the next ones: few enough for the cache. A multiple of the kernels' rows. */
#define CHUNK 96

static int64_t round_up(int64_t n, int64_t multiple) { return (n + multiple - 1) / multiple * multiple; }

static long stride_of(int columns) { return round_up(columns, COLUMNS) + CACHE_LINE; }

static int smaller(int a, int b) { return a < b ? a : b; }

int kioku_kernel_usable(const KiokuKernel *kernel) { return kernel->usable(); }

/* zeros returns memory for a number of bytes, all 0, or 0 if there is none. */
static void *zeros(int64_t bytes) {
  void *p = 0;
  if (posix_memalign(&p, 64, round_up(bytes, 64)) != 0) return 0;
  return memset(p, 0, round_up(bytes, 64));
}

/* new_linear reports whether there is memory for a matrix. */
static int new_linear(const KiokuModel *m, KiokuLinear *l, int outputs, int inputs) {
  int64_t padded = round_up(outputs, m->kernel->columns);
  l->outputs = outputs, l->inputs = inputs;
  l->panels = zeros(m->int8 ? padded * round_up(inputs, 4) : padded * inputs * 4);
  l->bias = zeros(padded * 4), l->scale = zeros(padded * 4), l->sum = zeros(padded * 4);
  return l->panels && l->bias && l->scale && l->sum;
}

/* new_layer reports whether there is memory for a layer. */
static int new_layer(const KiokuModel *m, KiokuLayer *l) {
  int ok = new_linear(m, &l->linear[KIOKU_QKV], 3 * m->hidden, m->hidden);
  ok &= new_linear(m, &l->linear[KIOKU_ATTENDED], m->hidden, m->hidden);
  ok &= new_linear(m, &l->linear[KIOKU_INNER], m->inner, m->hidden);
  ok &= new_linear(m, &l->linear[KIOKU_OUTER], m->hidden, m->inner);
  for (int i = 0; i < KIOKU_NORMS; i++) {
    l->scale[i] = zeros(4 * stride_of(m->hidden)), l->shift[i] = zeros(4 * stride_of(m->hidden));
    ok &= l->scale[i] && l->shift[i];
  }
  return ok;
}

KiokuModel *kioku_model_new(const KiokuKernel *kernel, int layers, int hidden, int heads, int inner, int activation, float epsilon, int int8) {
  KiokuModel *m = calloc(1, sizeof *m);
  if (!m) return 0;
  *m = (KiokuModel){.kernel = kernel, .layers = layers, .hidden = hidden, .heads = heads, .inner = inner, .activation = activation,
                    .epsilon = epsilon, .int8 = int8};
  m->scale = zeros(4 * stride_of(hidden)), m->shift = zeros(4 * stride_of(hidden));
  m->layer = calloc(layers, sizeof *m->layer);
  int ok = m->scale && m->shift && m->layer;
  for (int i = 0; ok && i < layers; i++) ok = new_layer(m, &m->layer[i]);
  if (ok) return m;
  kioku_model_free(m);
  return 0;
}

void kioku_model_free(KiokuModel *m) {
  for (int i = 0; m->layer && i < m->layers; i++) {
    KiokuLayer *l = &m->layer[i];
    for (int j = 0; j < KIOKU_LINEARS; j++) {
      free(l->linear[j].panels), free(l->linear[j].bias), free(l->linear[j].scale), free(l->linear[j].sum);
    }
    for (int j = 0; j < KIOKU_NORMS; j++) free(l->scale[j]), free(l->shift[j]);
  }
  free(m->layer), free(m->scale), free(m->shift), free(m);
}

void kioku_set_norm(KiokuModel *m, int layer, int norm, const float *scale, const float *shift) {
  memcpy(layer < 0 ? m->scale : m->layer[layer].scale[norm], scale, 4 * (size_t)m->hidden);
  memcpy(layer < 0 ? m->shift : m->layer[layer].shift[norm], shift, 4 * (size_t)m->hidden);
}

typedef int32_t Bits __attribute__((may_alias));

/* largest returns the largest absolute value of n numbers. It is not finite if one of them is not. */
static float largest(const float *x, int n) {
  int32_t highest = 0; /* as bits, absolute values have the order of integers */
  for (int i = 0; i < n; i++) {
    int32_t bits = ((const Bits *)x)[i] & 0x7fffffff;
    highest = bits > highest ? bits : highest;
  }
  float value;
  memcpy(&value, &highest, 4);
  return value;
}

/* set_int8 packs the weights of an output as integers, of which the largest is 127. codes is memory for them. */
static void set_int8(KiokuLinear *l, int columns, int output, const float *weights, float scale, float largest, int8_t *codes) {
  int8_t *panel = (int8_t *)l->panels + (int64_t)(output / columns) * columns * round_up(l->inputs, 4) + output % columns * 4;
  float inverse = largest > 1e-30f ? 127 / largest : 0;
  int32_t sum = 0;
  for (int i = 0; i < l->inputs; i++) {
    float code = weights[i] * inverse;
    codes[i] = (int8_t)(code + (code < 0 ? -0.5f : 0.5f));
    sum += codes[i];
  }
  l->scale[output] = largest / 127 * scale;
  l->sum[output] = sum;
  for (int i = 0; i < l->inputs; i += 4) memcpy(panel + (int64_t)i * columns, codes + i, 4);
}

/* set_floats packs the weights of n outputs, which are in the same panel. */
static void set_floats(KiokuLinear *l, int columns, int from, int n, const float *weights, float scale) {
  float *p = (float *)l->panels + (int64_t)(from / columns) * columns * l->inputs + from % columns;
  for (int i = 0; i < l->inputs; i++, p += columns)
    for (int o = 0; o < n; o++) p[o] = weights[(int64_t)o * l->inputs + i] * scale;
}

int kioku_set_outputs(KiokuModel *m, int layer, int linear, int from, int n, const float *weights, const float *bias, float scale) {
  KiokuLinear *l = &m->layer[layer].linear[linear];
  int columns = m->kernel->columns;
  int8_t *codes = zeros(round_up(l->inputs, 4));
  int ok = codes != 0;
  for (int o = from; ok && o < from + n; o++) {
    const float *row = weights + (int64_t)(o - from) * l->inputs;
    float size = largest(row, l->inputs);
    ok = size * 0 == 0; /* false for infinite and undefined numbers */
    l->bias[o] = bias[o - from] * scale;
    if (ok && m->int8) set_int8(l, columns, o, row, scale, size, codes);
  }
  free(codes);
  for (int o = 0, count; ok && !m->int8 && o < n; o += count) {
    count = smaller(n - o, columns - (from + o) % columns);
    set_floats(l, columns, from + o, count, weights + (int64_t)o * l->inputs, scale);
  }
  return ok;
}

int kioku_stride(const KiokuModel *m) { return stride_of(m->hidden); }

/* The parts of an arena, and what a step needs to know about the batch. */
typedef struct {
  const KiokuModel *m;
  int rows, member, members;
  KiokuTeam *team;
  long narrow, wide, byte_stride; /* distances of rows */
  float *x, *context, *y, *big;   /* big is as wide as query, key and value, or the inner states */
  float *byte_scale, *memory;     /* memory is that of this member for attention */
  int32_t *byte_zero;
  uint8_t *bytes;
} Work;

/* attention_memory returns how many numbers attention needs for a head. */
static int64_t attention_memory(const KiokuModel *m, int longest) {
  int64_t wide = round_up(longest, COLUMNS), dims = m->hidden / m->heads, deep = round_up(dims, COLUMNS);
  return wide * dims + longest * deep + KIOKU_QUERIES * (wide + deep);
}

/* divide sets the parts of an arena and returns its size. */
static int64_t divide(Work *w, float *arena, int longest) {
  const KiokuModel *m = w->m;
  int64_t rows = w->rows, at = 0;
  w->narrow = stride_of(m->hidden);
  w->wide = stride_of(m->inner > 3 * m->hidden ? m->inner : 3 * m->hidden);
  w->byte_stride = m->int8 ? stride_of(m->inner > m->hidden ? m->inner : m->hidden) : 0;
  w->x = arena, at += rows * w->narrow;
  w->context = arena + at, at += rows * w->narrow;
  w->y = arena + at, at += rows * w->narrow;
  w->big = arena + at, at += rows * w->wide;
  w->byte_scale = arena + at, at += rows;
  w->byte_zero = (int32_t *)(arena + at), at += rows;
  w->bytes = (uint8_t *)(arena + at), at += rows * w->byte_stride / 4;
  at = round_up(at, CACHE_LINE);
  int64_t memory = round_up(attention_memory(m, longest), CACHE_LINE);
  w->memory = arena + at + w->member * memory;
  return at + w->members * memory;
}

int64_t kioku_arena(const KiokuModel *m, int rows, int longest, int members) {
  Work w = {.m = m, .rows = rows, .members = members};
  return divide(&w, 0, longest);
}

/* wait_for_team returns when all members have called it. */
static void wait_for_team(const Work *w) {
  if (w->members == 1) return;
  int32_t round = __atomic_load_n(&w->team->round, __ATOMIC_ACQUIRE);
  if (__atomic_add_fetch(&w->team->arrived, 1, __ATOMIC_ACQ_REL) == w->members) {
    __atomic_store_n(&w->team->arrived, 0, __ATOMIC_RELAXED);
    __atomic_store_n(&w->team->round, round + 1, __ATOMIC_RELEASE);
    return;
  }
  for (int i = 0; __atomic_load_n(&w->team->round, __ATOMIC_ACQUIRE) == round; i++) {
    if (i > 4000) sched_yield();
  }
}

/* share sets the part of n things that a member does. */
static void share(const Work *w, int n, int *from, int *to) {
  *from = (int)((int64_t)n * w->member / w->members);
  *to = (int)((int64_t)n * (w->member + 1) / w->members);
}

/* apply multiplies the rows of in with a matrix, and waits for the other members. */
static void apply(const Work *w, const KiokuLinear *l, const float *in, long in_stride, float *out, long out_stride, int activation) {
  const KiokuKernel *k = w->m->kernel;
  int from, to;
  if (w->m->int8) {
    share(w, w->rows, &from, &to);
    k->quantize(in + from * in_stride, in_stride, to - from, l->inputs, w->bytes + from * w->byte_stride, w->byte_stride,
                w->byte_scale + from, w->byte_zero + from);
    wait_for_team(w);
  }
  share(w, (l->outputs + k->columns - 1) / k->columns, &from, &to);
  for (int r = 0; r < w->rows; r += CHUNK) {
    int rows = smaller(CHUNK, w->rows - r);
    float *c = out + r * out_stride;
    if (w->m->int8) {
      k->multiply_int8(l, w->bytes + r * w->byte_stride, w->byte_stride, w->byte_scale + r, w->byte_zero + r, c, out_stride, rows, from, to);
    } else {
      k->multiply(l, in + r * in_stride, in_stride, c, out_stride, rows, from, to);
    }
    if (activation >= 0) k->activate(c + from * k->columns, out_stride, rows, (to - from) * k->columns, activation);
  }
  wait_for_team(w);
}

/* attend computes the heads of all texts, and waits for the other members. */
static void attend(const Work *w, const int32_t *starts, int texts) {
  int h = w->m->hidden, dims = h / w->m->heads;
  for (int i = w->member; i < texts * w->m->heads; i += w->members) {
    int text = i / w->m->heads, head = i % w->m->heads * dims;
    const float *query = w->big + starts[text] * w->wide + head;
    w->m->kernel->attend(query, query + h, query + 2 * h, w->wide, starts[text + 1] - starts[text], dims,
                         w->context + starts[text] * w->narrow + head, w->narrow, w->memory);
  }
  wait_for_team(w);
}

/* normalize replaces x by the normalised sum of x and y, which may be 0, and waits for the other members. */
static void normalize(const Work *w, const float *y, const float *scale, const float *shift) {
  int from, to;
  share(w, w->rows, &from, &to);
  w->m->kernel->normalize(w->x + from * w->narrow, y ? y + from * w->narrow : 0, w->narrow, to - from, w->m->hidden, w->m->epsilon, scale, shift);
  wait_for_team(w);
}

/* stopped reports whether the caller has given up. All members get the same answer. */
static int stopped(const Work *w, const int32_t *stop) {
  if (w->member == 0) w->team->stopped = __atomic_load_n(stop, __ATOMIC_RELAXED);
  wait_for_team(w);
  return w->team->stopped;
}

void kioku_run(const KiokuModel *m, float *arena, const int32_t *starts, int texts, int longest, int member, int members,
               KiokuTeam *team, const int32_t *stop) {
  Work w = {.m = m, .rows = starts[texts], .member = member, .members = members, .team = team};
  divide(&w, arena, longest);
  normalize(&w, 0, m->scale, m->shift);
  for (int i = 0; i < m->layers && !stopped(&w, stop); i++) {
    const KiokuLayer *l = &m->layer[i];
    apply(&w, &l->linear[KIOKU_QKV], w.x, w.narrow, w.big, w.wide, -1);
    attend(&w, starts, texts);
    apply(&w, &l->linear[KIOKU_ATTENDED], w.context, w.narrow, w.y, w.narrow, -1);
    normalize(&w, w.y, l->scale[KIOKU_ATTENTION_NORM], l->shift[KIOKU_ATTENTION_NORM]);
    apply(&w, &l->linear[KIOKU_INNER], w.x, w.narrow, w.big, w.wide, m->activation);
    apply(&w, &l->linear[KIOKU_OUTER], w.big, w.wide, w.y, w.narrow, -1);
    normalize(&w, w.y, l->scale[KIOKU_OUTPUT_NORM], l->shift[KIOKU_OUTPUT_NORM]);
  }
}
