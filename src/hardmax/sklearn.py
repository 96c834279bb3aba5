"""The classifier of texts with a scikit-learn API."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false
import sys
from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hardmax._common.validation import InputError, MissingExtra
from hardmax._tokens.rationals import plain
from hardmax.text._analysis import Analysis
from hardmax.text._texts import read_texts
from hardmax.text.interpret import frequent_leaders
from hardmax.train.fitting import fit
from hardmax.train.settings import Settings

if find_spec("sklearn") is None:
    raise MissingExtra("An estimator", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import (
    _check_sample_weight,
    _check_y,
    check_consistent_length,
    check_is_fitted,
    check_random_state,
)

if TYPE_CHECKING:
    from hardmax.text.explain import Explanation

__all__ = ["HardmaxClassifier"]
_MOST_LEADERS = 100


class HardmaxClassifier(ClassifierMixin, BaseEstimator):
    """Text classifier with exact explanations.

    Parameters
    ----------
    ngram_range : (int, int), default (1, 2)
        Tokens are words, and phrases of up to as many words as the second number; the first is 1.
    overlapping : bool, default False
        Whether to count every token that occurs in a text. By default every word belongs to one
        token at most: words vote, and a phrase takes its words if it says more than they do.
    min_df : int, optional
        Leave out tokens that occur in fewer texts; by default the largest of 1, 2 and 3 that hardly
        makes predictions of held-out texts worse.
    max_features : int, optional
        Size of the vocabulary: the most influential tokens are kept, by default all.
    exclude : sequence of str, default ()
        Words that no token may contain, such as names.
    stop_words : sequence of str or "english", optional
        Silent words, as in `hardmax.train.Settings`; by default, given more than 1,000 texts,
        function words and other frequent words that all classes use about equally often.
    C : float, optional
        Inverse of the regularisation strength. This and the next three are chosen by
        cross-validation if None.
    gate : float, optional
        A token is active if it is stronger than this share of the strongest token in its text.
    alpha : number or str, optional
        How far active tokens move to their leaders: 0 (not at all) or the alpha of one layer.
    neutral_weight : int, optional
        The number of silent words that are added to each text: the more, the less confident the
        model is of short texts.
    scaling : {"rarity", "contrast", "evidence"}, optional
        How much tokens may weigh, as in `hardmax.train.Settings`; chosen if None.
    fit_intercept : bool, default True
        Whether a text in which nothing votes gets the shares of the classes among the training
        texts as its probabilities; if False, all classes are equally probable.
    reading : bool, default True
        Whether to look for modifiers, words that change the votes of those after them.
    vectors : "auto", "english", path, mapping or None, default "auto"
        Word vectors, from which words get weights that few training texts contain, or none: English
        ones, those of a file in GloVe's text format, or of a mapping. "auto" takes the English ones
        if there are at most 12,000 texts, which are in English.
    consistent : bool, default False
        Whether, with two classes, every token must speak for the class in which it is more
        frequent.
    class_weight : dict or "balanced", optional
        Weights of classes, as in scikit-learn.
    random_state : int, RandomState or None, default 0
        Seed of the cross-validation. With None, fitting again may give another model.
    verbose : int, default 0
        1 prints a line on stderr for each step.

    Attributes
    ----------
    classes_ : ndarray
        Labels in order, of the dtype in which they were given.
    model_ : TextModel
        The model, with `save`, `explain`, `flip`, `edit`; `hm.load_model` reads what it saves.
    leaders_ : list of Leader
        The tokens that lead most training texts, at most 100, most frequent first.

    Examples
    --------
    >>> texts = ["a superb film", "superb and witty", "an awful film", "awful and dull"] * 5
    >>> clf = HardmaxClassifier().fit(texts, ["positive", "positive", "negative", "negative"] * 5)
    >>> clf.predict(["A superb plot and a witty script.", "Awful!"]).tolist()
    ['positive', 'negative']
    """

    class_weight: Any
    random_state: Any
    verbose: int

    def __init__(
        self,
        *,
        ngram_range: tuple[int, int] = (1, 2),
        overlapping: bool = False,
        min_df: int | None = None,
        max_features: int | None = None,
        exclude: Sequence[str] = (),
        stop_words: Sequence[str] | str | None = None,
        C: float | None = None,
        gate: float | None = None,
        alpha: Any = None,
        neutral_weight: int | None = None,
        scaling: str | None = None,
        fit_intercept: bool = True,
        reading: bool = True,
        vectors: Any = "auto",
        consistent: bool = False,
        class_weight: Any = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        # scikit-learn reads each parameter from the attribute of its name.
        given = dict(locals())
        del given["self"]
        vars(self).update(given)

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train on texts and their labels.

        Parameters
        ----------
        X : sequence of str, Series or Arrow array
            Texts.
        y : sequence
            Labels of any kind.
        sample_weight : array_like, optional
            Weight of each text in the regression and in what is measured; texts of weight 0 are
            left out. Weight 3 is not the same as three copies: copies count towards `min_df` and
            the size of the vocabulary, and settings are chosen for more texts. Weights are relative
            to their mean, so that equal ones change nothing.
        groups : sequence, optional
            Texts of a group are held out together, and a token counts once per group.

        Returns
        -------
        HardmaxClassifier
            This estimator.
        """
        texts = read_texts(X, "`X`")
        if not len(texts):
            raise InputError("`X` is empty: expected texts to learn from.")
        if y is None:
            raise InputError("HardmaxClassifier requires y to be passed, but the target y is None.")
        labels = _check_y(y)
        check_classification_targets(labels)
        check_consistent_length(texts, labels)
        weights = _check_sample_weight(sample_weight, texts, ensure_non_negative=True)
        if self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, labels)
        learns = np.flatnonzero(weights > 0)
        texts = texts.pick(learns)
        if groups is not None:
            groups = np.asarray(groups)[learns]
        self.model_ = fit(
            texts,
            labels[learns],
            self._settings(),
            sample_weight=weights[learns],
            groups=groups,
            progress=partial(print, file=sys.stderr) if self.verbose else None,
        )
        self.classes_ = np.unique(labels[learns])
        self.leaders_ = list(frequent_leaders(self.model_, self._analyse(texts), _MOST_LEADERS))
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits of the classes.

        Parameters
        ----------
        X : sequence of str, Series or Arrow array
            Texts.

        Returns
        -------
        ndarray
            Of shape (texts,) for two classes, positive for the second; else (texts, classes).
        """
        logits = self._analyse(X).logits
        return logits[:, 0] if logits.shape[1] == 1 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : sequence of str, Series or Arrow array
            Texts.

        Returns
        -------
        ndarray of shape (texts, classes)
            In the order of `classes_`. Those of a text depend on that text alone, bit for bit.
        """
        return self._analyse(X).probabilities

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each text.

        Parameters
        ----------
        X : sequence of str, Series or Arrow array
            Texts.

        Returns
        -------
        ndarray of shape (texts,)
            Labels. Those of undecided texts (`model_.analyse(texts).decided`) say nothing about the
            text.
        """
        predicted = self._analyse(X).predicted
        return self.classes_[predicted]

    def explain(self, text: str) -> "Explanation":
        """Why a text gets its answer: its leaders, and what every token adds to the logit.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        Explanation
            For terminals, notebooks and files.
        """
        check_is_fitted(self)
        return self.model_.explain(text)

    def _analyse(self, X: Any) -> Analysis:
        check_is_fitted(self)
        return self.model_.analyse(read_texts(X, "`X`"))

    def _settings(self) -> Settings:
        # A grid of parameters is often a numpy array.
        given: dict[str, Any] = {
            part.name: plain(getattr(self, part.name)) for part in fields(Settings)
        }
        if not isinstance(given["random_state"], int):
            given["random_state"] = check_random_state(self.random_state).randint(2**31 - 1)
        return Settings(**given)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags
