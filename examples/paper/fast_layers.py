"""Layers of the paper's network in one kernel each, for `clustering.py` on a GPU: a third of the
time.

A block is a review and a thread one of its words. Scores never leave the registers; the gradient
forms them anew. Everything is float32, since scores are divided by 0.001.
"""

from functools import cache
from typing import Any

import torch

KINDS = {"softmax": 0, "straight": 1, "hard": 2}
LENGTH = 128

# x: the points of a review; w: what a word attends to; ws: its mean by the softmax whose gradient
# is taken; m, l: largest score and inverse sum of that softmax; g: gradient of the layer's output.
SOURCE = r"""
DEVICE float dot(const float* x, const float* y) {
    float sum = 0.f;
    #pragma unroll
    for (int c = 0; c < D; ++c) sum = fmaf(x[c], y[c], sum);
    return sum;
}

DEVICE void forward_row(int i, const float* x, const unsigned char* kept, float alpha, float heat,
                        float* moved, float* ws_out, float* m_out, float* l_out, int* chosen_out) {
    float own[D], ws[D];
    #pragma unroll
    for (int c = 0; c < D; ++c) { own[c] = x[i * D + c]; ws[c] = 0.f; }
    float m = -3.4e38f;
    int chosen = 0;
    #pragma unroll 8
    for (int j = 0; j < LENGTH; ++j) {
        float s = dot(own, x + j * D);
        if ((!MASKED || kept[j]) && s > m) { m = s; chosen = j; }
    }
    float l = 0.f, cold = 1.f / heat;
    if (KIND != 2) {
        #pragma unroll 4
        for (int j = 0; j < LENGTH; ++j) {
            float p = expf((dot(own, x + j * D) - m) * cold);
            if (MASKED && !kept[j]) p = 0.f;
            l += p;
            #pragma unroll
            for (int c = 0; c < D; ++c) ws[c] = fmaf(p, x[j * D + c], ws[c]);
        }
        l = l > 0.f ? 1.f / l : 0.f;
    }
    #pragma unroll
    for (int c = 0; c < D; ++c) {
        ws[c] *= l;
        float w = KIND == 0 ? ws[c] : x[chosen * D + c];
        moved[i * D + c] = (own[c] + alpha * w) / (1.f + alpha);
        ws_out[i * D + c] = ws[c];
    }
    m_out[i] = m; l_out[i] = l; chosen_out[i] = chosen;
}

DEVICE void backward_row(int i, const float* x, const float* g, const float* answered,
                         const float* m, const float* l, const int* chosen,
                         const unsigned char* kept, float alpha, float heat, float* slope,
                         float* alpha_slope, const float* ws) {
    float own[D], given[D], sum[D];
    float share = alpha / (1.f + alpha), cold = 1.f / heat, told = 0.f;
    #pragma unroll
    for (int c = 0; c < D; ++c) {
        own[c] = x[i * D + c];
        given[c] = g[i * D + c];
        sum[c] = given[c] / (1.f + alpha);
        float w = KIND == 0 ? ws[i * D + c] : x[chosen[i] * D + c];
        told = fmaf(given[c], w - own[c], told);
    }
    alpha_slope[i] = told / ((1.f + alpha) * (1.f + alpha));
    bool here = !MASKED || kept[i];
    #pragma unroll 4
    for (int j = 0; j < LENGTH; ++j) {
        float bend = 0.f, value = KIND != 0 && chosen[j] == i ? 1.f : 0.f;
        if (KIND != 2) {
            float s = dot(own, x + j * D);
            float row = expf((s - m[i]) * cold) * l[i], column = expf((s - m[j]) * cold) * l[j];
            if (MASKED && !kept[j]) row = 0.f;
            if (!here) column = 0.f;
            bend = row * (dot(given, x + j * D) - answered[i])
                 + column * (dot(own, g + j * D) - answered[j]);
            bend *= share * cold;
            if (KIND == 0) value = column;
        }
        value *= share;
        #pragma unroll
        for (int c = 0; c < D; ++c)
            sum[c] += bend * x[j * D + c] + value * g[j * D + c];
    }
    #pragma unroll
    for (int c = 0; c < D; ++c) slope[i * D + c] = sum[c];
}
"""
KERNELS = r"""
extern "C" __global__ void forward_layer(
    const float* z, const unsigned char* kept, const float* alpha, const float* heat, float* moved,
    float* ws, float* m, float* l, int* chosen, int reviews) {
    __shared__ __align__(16) float x[LENGTH * D];
    __shared__ unsigned char here[LENGTH];
    int i = threadIdx.x, review = blockIdx.x, first = review * LENGTH;
    for (int k = i; k < LENGTH * D; k += LENGTH) x[k] = z[first * D + k];
    if (MASKED) here[i] = kept[first + i];
    __syncthreads();
    forward_row(i, x, here, alpha[review / reviews], KIND == 0 ? heat[0] : 1.f,
                moved + first * D, ws + first * D, m + first, l + first, chosen + first);
}

extern "C" __global__ void backward_layer(
    const float* z, const float* given, const unsigned char* kept, const float* alpha,
    const float* heat, const float* ws, const float* m, const float* l, const int* chosen,
    float* slope, float* alpha_slope, int reviews) {
    __shared__ __align__(16) float x[LENGTH * D];
    __shared__ __align__(16) float g[LENGTH * D];
    __shared__ float largest[LENGTH], inverse[LENGTH], answered[LENGTH];
    __shared__ int leader[LENGTH];
    __shared__ unsigned char here[LENGTH];
    int i = threadIdx.x, review = blockIdx.x, first = review * LENGTH;
    for (int k = i; k < LENGTH * D; k += LENGTH) {
        x[k] = z[first * D + k];
        g[k] = given[first * D + k];
    }
    if (MASKED) here[i] = kept[first + i];
    largest[i] = m[first + i]; inverse[i] = l[first + i]; leader[i] = chosen[first + i];
    __syncthreads();
    answered[i] = dot(g + i * D, ws + (first + i) * D);
    __syncthreads();
    backward_row(i, x, g, answered, largest, inverse, leader, here, alpha[review / reviews],
                 KIND == 0 ? heat[0] : 1.f, slope + first * D, alpha_slope + first,
                 ws + first * D);
}
"""


@cache
def compiled(name: str, d: int, kind: str, masked: bool) -> Any:
    """A kernel for one dimension and kind of attention."""
    constants = {"D": d, "KIND": KINDS[kind], "MASKED": int(masked), "LENGTH": LENGTH}
    lines = [f"#define {name} {value}" for name, value in constants.items()]
    lines.append("#define DEVICE __device__ __forceinline__")
    return torch.cuda._compile_kernel("\n".join(lines) + SOURCE + KERNELS, name)


class Layer(torch.autograd.Function):
    """One layer; `kept` says which words may be attended to."""

    @staticmethod
    def forward(ctx, z, alpha, heat, kept, kind):
        orders, reviews, length, d = z.shape
        z = z.contiguous()
        moved, ws = torch.empty_like(z), torch.empty_like(z)
        m, inverse = (z.new_empty(orders, reviews, length) for _ in range(2))
        chosen = torch.empty_like(m, dtype=torch.int32)
        mask = chosen
        if kept is not None:
            mask = kept.expand(orders, reviews, length).to(torch.uint8).contiguous()
        ctx.key = (d, kind, kept is not None)
        arguments = [z, mask, alpha.detach(), heat, moved, ws, m, inverse, chosen, reviews]
        launch = compiled("forward_layer", *ctx.key)
        launch((orders * reviews, 1, 1), (length, 1, 1), arguments)
        ctx.save_for_backward(z, alpha, heat, mask, ws, m, inverse, chosen)
        return moved

    @staticmethod
    def backward(ctx, *given):
        z, alpha, heat, mask, ws, m, inverse, chosen = ctx.saved_tensors
        orders, reviews, length, _ = z.shape
        slope, alpha_slope = torch.empty_like(z), torch.empty_like(m)
        arguments = [z, given[0].contiguous(), mask, alpha.detach(), heat, ws, m, inverse, chosen]
        launch = compiled("backward_layer", *ctx.key)
        launch((orders * reviews, 1, 1), (length, 1, 1), [*arguments, slope, alpha_slope, reviews])
        return slope, alpha_slope.sum(dim=(1, 2)), None, None, None
