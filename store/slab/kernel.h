#include <stdint.h>

// kioku_scores writes to out the scalar product of each row with the query, times the row's scale.
void kioku_scores(const int8_t *quantized, const float *scale, const int16_t *query, int dims, int rows, float *out);

// kioku_quantize writes row / step, rounded, to quantized, and returns the square of the distance between row and quantized * step.
// per is 1 / step.
float kioku_quantize(const float *row, int dims, float step, float per, int8_t *quantized);
