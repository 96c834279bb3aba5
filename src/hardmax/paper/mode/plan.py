"""What decides a training in paper mode, besides the reviews: the authors' numbers, and two variations of ours."""

from dataclasses import dataclass

DIMENSIONS = (2, 4, 8, 16)
KINDS = ("paper", "validated", "exact")
TRAINING_SHARE = 0.7


@dataclass(frozen=True, kw_only=True)
class Plan:
    """One training. The defaults are the authors' choices.

    With `held_out` that share of the training reviews is not trained on but chooses the epoch, and the test reviews are
    looked at once. With `exact` the hardmax itself is trained, through the tokens it chooses, instead of a softmax.
    """

    dimension: int
    exact: bool = False
    held_out: float = 0.0
    layers: int = 8
    temperature: float = 0.001
    learning_rate: float = 1e-3
    batch_size: int = 64
    largest_norm: float = 5.0  # of the gradient
    epochs: int = 101
    compare_every: int = 10  # epochs, between those in which hardmax is measured with the weights of the softmax
    seed: int = 0
    shuffle: int = 0  # another one draws the reviews in another order, from the same weights on

    @property
    def name(self) -> str:
        """What files call it.

        >>> Plan(dimension=2).name, Plan(dimension=4, held_out=0.1).name, Plan(dimension=2, exact=True).name
        ('d2-paper', 'd4-validated', 'd2-exact')
        """
        kind = "exact" if self.exact else "validated" if self.held_out else "paper"
        return f"d{self.dimension}-{kind}" + (f"-shuffle{self.shuffle}" if self.shuffle else "")


def plan_of(dimension: int, kind: str, *, epochs: int = 101, seed: int = 0, shuffle: int = 0) -> Plan:
    """The plan of a kind: the paper's own; with a tenth held out to choose the epoch; with the exact hardmax."""
    held_out = 0.1 if kind == "validated" else 0.0
    return Plan(
        dimension=dimension, exact=kind == "exact", held_out=held_out, epochs=epochs, seed=seed, shuffle=shuffle
    )
