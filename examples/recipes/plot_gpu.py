"""
Use the GPU
===========

``engine=hm.Gpu()``, or tensors that are on a GPU already. Results are the same as on the CPU.
Without a GPU this script says so and runs on the CPU alone."""

import time

import matplotlib.pyplot as plt
import torch

import hardmax as hm

has_gpu = torch.cuda.is_available()
print(
    "GPU:",
    torch.cuda.get_device_name() if has_gpu else "none; `hardmax doctor` shows what is installed",
)

# %%
# A Gaussian cloud in 16 dimensions, and its limit on each device. Every choice is proved on both, so the leaders
# agree.
cloud, half = hm.clouds.gaussian(16_384 if has_gpu else 2_000, 16), hm.Dynamics("1/2")
engines = {"CPU": hm.Cpu()} | ({"GPU": hm.Gpu()} if has_gpu else {})
found = {}
for name, engine in engines.items():
    hm.limit(cloud, half, engine=engine)  # the first call compiles kernels
    start = time.perf_counter()
    found[name] = hm.limit(cloud, half, engine=engine)
    print(f"{name}: {len(found[name].leaders):,} leaders in {time.perf_counter() - start:.3f} s")
if has_gpu:
    assert found["GPU"].leaders.tolist() == found["CPU"].leaders.tolist()

# %%
# Tensors stay on their device: tokens on a GPU give a limit on that GPU, with their dtype.
tokens = torch.as_tensor(cloud, device="cuda" if has_gpu else "cpu")
points = hm.limit(tokens, half).limit_points
print(points.device, points.dtype)

# %%
# How many tokens follow each leader?
sizes = sorted(found["CPU"].clusters.sizes, reverse=True)
figure, ax = plt.subplots(figsize=(6, 3))
ax.loglog(range(1, len(sizes) + 1), sizes)
ax.set(
    xlabel="cluster, by size",
    ylabel="tokens",
    title=f"{len(sizes):,} clusters of {len(cloud):,} tokens",
)
figure.tight_layout()
