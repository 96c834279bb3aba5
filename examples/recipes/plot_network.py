"""
A layer in your own network
===========================

``HardmaxAttention`` is a PyTorch module. A student learns the step size of a teacher by gradient
descent: given the attended sets, the layer is linear in the tokens, and its gradient is exact.
"""

import matplotlib.pyplot as plt
import torch

from hardmax.torch import HardmaxAttention

torch.manual_seed(0)
clouds = torch.randn(64, 10, 2)
teacher = HardmaxAttention(alpha=2, layers=2)
student = HardmaxAttention(alpha=0.5, layers=2, learn_alpha=True)
print(student)

# %%
# Train the student to move the tokens as the teacher does.
optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
losses, steps = [], []
for _ in range(200):
    loss = torch.nn.functional.mse_loss(student(clouds), teacher(clouds))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    steps.append(torch.as_tensor(student.alpha).item())

# %%
# Where attended sets change the loss jumps, as choices do; between two changes it falls smoothly.
figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3), layout="constrained")
left.semilogy(losses)
left.set(xlabel="step", ylabel="loss")
right.plot(steps, label="student")
right.axhline(2, color="grey", ls=":", label="teacher")
right.set(xlabel="step", ylabel="alpha")
right.legend(frameon=False)
plt.show()

# %%
# In a larger network it is a layer like any other:
network = torch.nn.Sequential(
    torch.nn.Linear(16, 2), HardmaxAttention(alpha=0.5, layers=4, learn_alpha=True)
)
network(torch.randn(8, 100, 16)).sum().backward()
