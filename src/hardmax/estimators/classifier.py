"""The classifier of texts in scikit-learn's shape."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hardmax._validation import InputError, check_int
from hardmax.estimators.labels import plain_names, read_targets
from hardmax.estimators.recipes import recipe_of
from hardmax.estimators.weights import read_weights
from hardmax.text.knowing.leading import frequent_leaders
from hardmax.text.tokens.texts import read_texts

if TYPE_CHECKING:
    from hardmax.text.explain.explanation import Explanation
    from hardmax.train.log import Epoch
    from hardmax.train.suited import Suited


class HardmaxClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of texts that is its own explanation.

    `X` is a list, a numpy array, a pandas or polars series or an Arrow array of texts; `y` labels of any kind.

    Parameters
    ----------
    dimension, layers, alpha, epochs, validation_fraction
        As in `hardmax.train.Recipe`; None: as the recipe says (usually one layer, alpha 1, and as many dimensions as
        the classes need, 2 for two). A share `validation_fraction` of every class is held out, to calibrate
        probabilities and, if the recipe has patience, to stop early.
    recipe
        Everything else about the training: a `Recipe`, a dict of its entries, or the name of a preset ("imdb-2d", …).
        None: what matters is chosen on held-out texts (`hardmax.train.suit`), and then the model is trained on all
        of them; what was chosen, and why, is in `model_.metrics["chosen"]`.
    random_state
        The seed. None: that of the recipe, so that fitting again always gives the same bits.
    verbose
        1: a line on stderr for every choice and after every epoch.

    Attributes
    ----------
    classes_ : the labels in order, of the dtype in which they came.
    model_ : the `hardmax.text.text_model.TextModel`, with `save`.
    leaders_ : a `Leader` (`hardmax.text.knowing.leading`) for each word that leads in a training text, in order.

    A text of weight 0 is as if it were not there, and equal weights are as none, both to the bit. A weight of 2 is
    not the same as giving the text twice: it doubles the loss, but the words of the text are counted once.

    >>> from hardmax.text.data.planted import plant
    >>> corpus = plant(60, seed=1)
    >>> clf = HardmaxClassifier().fit(corpus.texts, corpus.labels)
    >>> clf.predict(["A superb plot and a witty script.", "Awful!"]).tolist()
    ['positive', 'negative']
    """

    def __init__(
        self,
        *,
        dimension: int | None = None,
        layers: int | None = None,
        alpha: float | None = None,
        epochs: int | None = None,
        validation_fraction: float | None = None,
        recipe: Any = None,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.dimension = dimension
        self.layers = layers
        self.alpha = alpha
        self.epochs = epochs
        self.validation_fraction = validation_fraction
        self.recipe = recipe
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> "HardmaxClassifier":  # noqa: N803
        """Train on texts and their labels."""
        from hardmax.train import Recipe, fit, suit

        texts = read_texts(X, "`X`")
        if not len(texts):
            raise InputError("`X` is empty: expected texts to learn from.")
        weights = read_weights(sample_weight, len(texts))
        classes, numbers = read_targets(y, len(texts))
        learns = weights > 0
        if len(np.unique(numbers[learns])) < len(classes):
            raise InputError("`sample_weight` is 0 for every text of a class: leave the class out, or give it weight.")
        if not learns.all():
            texts, numbers, weights = texts.pick(np.flatnonzero(learns)), numbers[learns], weights[learns]
        recipe = recipe_of(self.recipe, self.random_state, self._changes())
        verbose = self.verbose
        if not isinstance(verbose, bool):
            verbose = check_int(verbose, "`verbose`", at_least=0)
        chosen = recipe if isinstance(recipe, Recipe) else suit(texts, numbers, recipe)
        if verbose and not isinstance(chosen, Recipe):
            _tell(chosen)
        model = fit(texts, numbers, chosen, sample_weight=weights, progress=_report if verbose else None)
        self.classes_ = classes
        self.model_ = replace(model, classes=plain_names(classes))
        self.leaders_ = frequent_leaders(self.model_, self.model_.analyse(texts))
        return self

    def decision_function(self, X: Any) -> np.ndarray:  # noqa: N803
        """The logits: (texts,) for two classes, positive for the second; else (texts, classes)."""
        check_is_fitted(self)
        return self.model_.decision_function(read_texts(X, "`X`"))

    def predict_proba(self, X: Any) -> np.ndarray:  # noqa: N803
        """The probabilities of `classes_`, (texts, classes). Those of a text depend on that text alone, to the bit."""
        check_is_fitted(self)
        return self.model_.predict_proba(read_texts(X, "`X`"))

    def predict(self, X: Any) -> np.ndarray:  # noqa: N803
        """The most probable class of each text."""
        probabilities = self.predict_proba(X)  # first, since it sees whether there are classes
        return self.classes_[probabilities.argmax(axis=1)]

    def explain(self, text: str) -> "Explanation":
        """Why: the words of one text that lead, and what every word adds to the logit."""
        check_is_fitted(self)
        return self.model_.explain(text)

    def _changes(self) -> dict[str, Any]:
        names = ("dimension", "layers", "alpha", "epochs", "validation_fraction")
        return {name: getattr(self, name) for name in names}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _tell(chosen: "Suited") -> None:
    for choice in chosen.choices:
        print(f"{choice.name} {choice.value}: {choice.why}", file=sys.stderr)


def _report(epoch: "Epoch") -> None:
    judged = "" if epoch.validation_loss is None else f", validation loss {epoch.validation_loss:.4f}"
    told = f"loss {epoch.loss:.4f}, accuracy {epoch.accuracy:.3f}, {epoch.leaders:.1f} leaders a text{judged}"
    print(f"epoch {epoch.epoch}: {told}", file=sys.stderr)
