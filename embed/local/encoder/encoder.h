#ifndef KIOKU_ENCODER_H
#define KIOKU_ENCODER_H

#include <stdint.h>

/* The activation functions. */
enum { KIOKU_GELU, KIOKU_GELU_TANH, KIOKU_RELU };

/* The matrices of a layer. Query, key and value are one matrix. */
enum { KIOKU_QKV, KIOKU_ATTENDED, KIOKU_INNER, KIOKU_OUTER, KIOKU_LINEARS };

/* The layer normalisations of a layer. */
enum { KIOKU_ATTENTION_NORM, KIOKU_OUTPUT_NORM, KIOKU_NORMS };

/* A matrix and a bias. The rows of the matrix, one an output, are packed in panels: a panel has, for each input, the weights of as
   many outputs as the kernel computes at once; or, in integers, for each four inputs, four weights of each of these outputs. */
typedef struct {
  int outputs, inputs;
  void *panels; /* float, or int8_t */
  float *bias;  /* as many as the panels have outputs */
  float *scale; /* of the integers of an output */
  int32_t *sum; /* of the integers of an output */
} KiokuLinear;

typedef struct {
  KiokuLinear linear[KIOKU_LINEARS];
  float *scale[KIOKU_NORMS], *shift[KIOKU_NORMS];
} KiokuLayer;

/* How many queries attention computes at once. */
#define KIOKU_QUERIES 64

/* The arithmetic for a kind of processor; kernel.h says what the functions do. The last two are 0 if the processor has no fast
   multiplication of bytes. */
typedef struct {
  const char *name;
  int columns; /* outputs of a panel */
  int (*usable)(void);
  void (*multiply)(const KiokuLinear *l, const float *a, long a_stride, float *c, long c_stride, int rows, int from, int to);
  void (*activate)(float *c, long stride, int rows, int columns, int activation);
  void (*normalize)(float *x, const float *y, long stride, int rows, int dims, float epsilon, const float *scale, const float *shift);
  void (*attend)(const float *query, const float *key, const float *value, long stride, int tokens, int dims, float *out, long out_stride,
                 float *memory);
  void (*quantize)(const float *x, long stride, int rows, int dims, uint8_t *bytes, long byte_stride, float *scale, int32_t *zero);
  void (*multiply_int8)(const KiokuLinear *l, const uint8_t *bytes, long a_stride, const float *scale, const int32_t *zero, float *c,
                        long c_stride, int rows, int from, int to);
} KiokuKernel;

typedef struct {
  const KiokuKernel *kernel;
  int layers, hidden, heads, inner, activation, int8;
  float epsilon;
  float *scale, *shift; /* of the normalisation of the embeddings */
  KiokuLayer *layer;
} KiokuModel;

/* The threads that compute a batch together. All zero at the start. */
typedef struct {
  int32_t arrived, round, stopped;
} KiokuTeam;

/* kioku_kernel returns the kernel of a number, from the fastest to the slowest; 0 if there are no more. */
const KiokuKernel *kioku_kernel(int number);

/* kioku_kernel_usable returns whether this processor can run a kernel. */
int kioku_kernel_usable(const KiokuKernel *kernel);

/* kioku_model_new returns a model with all weights 0, or 0 if there is no memory for it. */
KiokuModel *kioku_model_new(const KiokuKernel *kernel, int layers, int hidden, int heads, int inner, int activation, float epsilon, int int8);

/* kioku_model_free frees a model. */
void kioku_model_free(KiokuModel *m);

/* kioku_set_outputs sets the weights and biases of n outputs of a matrix, times a number. It returns 0 if a weight is not finite. */
int kioku_set_outputs(KiokuModel *m, int layer, int linear, int from, int n, const float *weights, const float *bias, float scale);

/* kioku_set_norm sets a normalisation of a layer, or that of the embeddings if layer is -1. */
void kioku_set_norm(KiokuModel *m, int layer, int norm, const float *scale, const float *shift);

/* kioku_stride returns the distance of two hidden states in a batch. */
int kioku_stride(const KiokuModel *m);

/* kioku_arena returns how many numbers a batch needs for its hidden states and the work with them. */
int64_t kioku_arena(const KiokuModel *m, int rows, int longest, int members);

/* kioku_run replaces the sums of embeddings at the start of the arena by the last hidden states. starts has the first row of each
   text and, after them, the number of rows. Each member of a team calls it with its number; they work together, and stop after a
   layer if *stop is not 0. */
void kioku_run(const KiokuModel *m, float *arena, const int32_t *starts, int texts, int longest, int member, int members,
               KiokuTeam *team, const int32_t *stop);

#endif
