"""
A layer in your own network
===========================

``HardmaxAttention`` is a PyTorch module. A student learns the step size of a teacher by gradient descent: given who
attends to whom, the layer is linear in the tokens, and its gradient is exact.
"""

import matplotlib.pyplot as plt
import torch

from hardmax.torch import HardmaxAttention

torch.manual_seed(0)
clouds = torch.randn(64, 10, 3)


def network(attention: HardmaxAttention) -> torch.nn.Sequential:
    """A projection to the plane, and attention."""
    return torch.nn.Sequential(torch.nn.Linear(3, 2, bias=False), attention)


attention = HardmaxAttention(alpha=0.5, layers=2, learn_alpha=True)
teacher, student = network(HardmaxAttention(alpha=2, layers=2)), network(attention)
print(teacher)

# %%
# Train the student to give the same mean token as the teacher.
target = teacher(clouds).mean(1).detach()
optimizer = torch.optim.Adam(student.parameters(), lr=0.05)
losses, steps = [], []
for _ in range(200):
    loss = torch.nn.functional.mse_loss(student(clouds).mean(1), target)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    losses.append(loss.item())
    steps.append(float(attention.alpha))

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
