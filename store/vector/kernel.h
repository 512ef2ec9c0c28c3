#include <stdint.h>

// kioku_scores writes, for each of the rows, its scalar product with the query times its scale to out.
void kioku_scores(const int8_t *codes, const float *scale, const int16_t *query, int dims, int rows, float *out);

// kioku_encode writes row / step, rounded, to codes, and returns the square of the distance between row and codes * step.
// per is 1 / step.
float kioku_encode(const float *row, int dims, float step, float per, int8_t *codes);
