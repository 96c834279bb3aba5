"""The classifier of texts with a scikit-learn API."""

# pyright: reportMissingImports=false, reportMissingTypeStubs=false, reportMissingModuleSource=false
import sys
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hardmax._common.validation import InputError, MissingExtra, check_int, check_numeric, shorten
from hardmax._tokens.batches import float_array
from hardmax._tokens.rationals import plain
from hardmax.text._texts import TextBytes, is_missing, read_texts
from hardmax.text.card import token_table
from hardmax.text.interpret import Leader, frequent_leaders
from hardmax.text.text_model import TextModel
from hardmax.train.fitting import fit, plain_names
from hardmax.train.settings import Settings

if find_spec("sklearn") is None:
    raise MissingExtra("An estimator", "sklearn")

from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state, column_or_1d
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.validation import check_is_fitted

if TYPE_CHECKING:
    import pandas

    from hardmax.text.explain import Explanation

__all__ = ["HardmaxClassifier"]
_LARGEST_SEED, _MOST_LEADERS = 2**31 - 1, 100


class HardmaxClassifier(ClassifierMixin, BaseEstimator):
    """Text classifier with exact explanations.

    Parameters
    ----------
    ngram_range : (int, int), default (1, 2)
        Tokens are words, and phrases of up to as many words as the second number; the first is 1.
    overlapping : bool, default True
        Count every token that occurs in a text; if False, every word belongs to one token at most.
    min_df : int, optional
        Leave out tokens that occur in fewer texts; by default the largest of 1, 2 and 3 at which
        held-out texts are predicted hardly worse.
    max_features : int, optional
        Size of the vocabulary: the most influential tokens are kept, by default all.
    sentences : float, default 0
        Weight of each of three sentences of a text beside the text itself, for short texts.
    exclude : sequence of str, default ()
        Words that no token may contain, such as names.
    stop_words : sequence of str or "english", optional
        Words of which no token may consist, alone or with others of them; "english" are those of
        scikit-learn. By default frequent words of which each class has about as many are no tokens,
        if held-out texts are predicted hardly worse.
    C : float, optional
        Inverse of the regularisation strength. This and the next three are chosen by
        cross-validation if None.
    gate : float, optional
        A token is active if it is stronger than this share of the strongest token in its text.
    alpha : number or str, optional
        How far active tokens move to their leaders: 0 (not at all) or the alpha of one layer.
    neutral_weight : int, optional
        So many silent words are added to each text: the more, the less confident short texts are.
    scaling : {"rarity", "contrast", "evidence"}, optional
        How much tokens may weigh, as in `hardmax.train.Settings`; chosen if None.
    fit_intercept : bool, default True
        Whether a text in which nothing votes has the classes' shares of the training texts as its
        probabilities; if False, all classes are equally probable.
    reading : bool, default True
        Whether to look for modifiers, words that change the votes of those after them.
    vectors : "auto", "english", path, mapping or None, default "auto"
        Word vectors, from which words get weights that few training texts contain, or none: English
        ones, those of a file (GloVe's text format, or npz with `words` and `vectors`), or of a
        mapping. "auto" takes the English ones if there are at most 1,000 texts, which are in
        English, and held-out texts do not speak against them.
    consistent : bool, default False
        Whether, with two classes, every token must speak for the class in which it is more
        frequent.
    class_weight : dict or "balanced", optional
        Weights of classes, as in scikit-learn.
    column : str, optional
        The column of the texts, if `X` is a DataFrame with several.
    random_state : int, RandomState or None, default 0
        Seed of the cross-validation. With None, fitting again may give another model.
    verbose : int, default 0
        1 prints a line on stderr for each step.

    Attributes
    ----------
    classes_ : ndarray
        Labels in order, of the dtype in which they were given.
    model_ : TextModel
        The model, with `save`, `explain`, `flip`, `edit`.
    leaders_ : list of Leader
        The tokens that lead most training texts, at most 100, most frequent first.

    Examples
    --------
    >>> texts = ["a superb film", "superb and witty", "an awful film", "awful and dull"] * 5
    >>> clf = HardmaxClassifier().fit(texts, ["positive", "positive", "negative", "negative"] * 5)
    >>> clf.predict(["A superb plot and a witty script.", "Awful!"]).tolist()
    ['positive', 'negative']
    """

    def __init__(
        self,
        *,
        ngram_range: tuple[int, int] = (1, 2),
        overlapping: bool = True,
        min_df: int | None = None,
        max_features: int | None = None,
        sentences: float = 0.0,
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
        column: str | None = None,
        random_state: Any = 0,
        verbose: int = 0,
    ) -> None:
        self.ngram_range = ngram_range
        self.overlapping = overlapping
        self.min_df = min_df
        self.max_features = max_features
        self.sentences = sentences
        self.exclude = exclude
        self.stop_words = stop_words
        self.C = C
        self.gate = gate
        self.alpha = alpha
        self.neutral_weight = neutral_weight
        self.scaling = scaling
        self.fit_intercept = fit_intercept
        self.reading = reading
        self.vectors = vectors
        self.consistent = consistent
        self.class_weight = class_weight
        self.column = column
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:
        """Train on texts and their labels.

        Parameters
        ----------
        X : sequence of str, Series, Arrow array or DataFrame
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
        texts = self._texts(X)
        if not len(texts):
            raise InputError("`X` is empty: expected texts to learn from.")
        weights = _read_weights(sample_weight, len(texts))
        classes, numbers = _read_targets(y, len(texts))
        learns = weights > 0
        if len(np.unique(numbers[learns])) < len(classes):
            wish = "leave the class out, or give it weight"
            raise InputError(f"`sample_weight` is 0 for every text of a class: {wish}.")
        if self.class_weight is not None:
            weights = weights * compute_sample_weight(self.class_weight, y)
        texts = texts.pick(np.flatnonzero(learns))
        together = None if groups is None else np.asarray(groups)[learns]
        say = (
            partial(print, file=sys.stderr)
            if check_int(int(self.verbose), "`verbose`", at_least=0)
            else None
        )
        model = fit(
            texts,
            numbers[learns],
            self._settings(),
            sample_weight=weights[learns],
            groups=together,
            progress=say,
        )
        self.classes_ = classes
        model = replace(model, classes=plain_names(classes))
        self.leaders_ = list(frequent_leaders(model, model.analyse(texts), _MOST_LEADERS))
        given = model.metrics["given"] | self._recorded()
        kept = {"given": given, "leaders": [asdict(leader) for leader in self.leaders_]}
        self.model_ = replace(model, metrics=model.metrics | kept)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Logits of the classes.

        Parameters
        ----------
        X : sequence of str, Series, Arrow array or DataFrame
            Texts.

        Returns
        -------
        ndarray
            Of shape (texts,) for two classes, positive for the second; else (texts, classes).
        """
        check_is_fitted(self)
        logits = self.model_.analyse(self._texts(X)).logits
        return logits[:, 0] if logits.shape[1] == 1 else logits

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes.

        Parameters
        ----------
        X : sequence of str, Series, Arrow array or DataFrame
            Texts.

        Returns
        -------
        ndarray of shape (texts, classes)
            In the order of `classes_`. Those of a text depend on that text alone, bit for bit.
        """
        check_is_fitted(self)
        return self.model_.predict_proba(self._texts(X))

    def predict_log_proba(self, X: Any) -> np.ndarray:
        """Logarithms of the probabilities.

        Parameters
        ----------
        X : sequence of str, Series, Arrow array or DataFrame
            Texts.

        Returns
        -------
        ndarray of shape (texts, classes)
            As in `predict_proba`.
        """
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> np.ndarray:
        """Most probable class of each text.

        Parameters
        ----------
        X : sequence of str, Series, Arrow array or DataFrame
            Texts.

        Returns
        -------
        ndarray of shape (texts,)
            Labels. Those of undecided texts (`model_.analyse(texts).decided`) say nothing of the
            text.
        """
        check_is_fitted(self)
        number = {
            name: n for n, name in enumerate(self.model_.classes)
        }  # their names need not have this dtype
        predicted = self.model_.predict(self._texts(X)).tolist()
        return self.classes_[np.array([number[name] for name in predicted], dtype=int)]

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

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Tokens that the model knows.

        Parameters
        ----------
        input_features : None
            Ignored.

        Returns
        -------
        ndarray of str
            In the order of `to_pandas`.
        """
        check_is_fitted(self)
        return np.array(self.model_.vocabulary.surfaces, dtype=object)

    def to_pandas(self) -> "pandas.DataFrame":
        """Table of all tokens: their weights, and the number of training texts of each class that
        have them."""
        check_is_fitted(self)
        return token_table(self.model_)

    def save(self, folder: str | Path) -> None:
        """Write the model to a folder, whole or not at all.

        Parameters
        ----------
        folder : path
            A new or empty folder, or one with a model.
        """
        check_is_fitted(self)
        self.model_.save(folder)

    @classmethod
    def load(cls, folder: str | Path) -> Self:
        """A fitted classifier from a folder, with the parameters that it was trained with.

        Parameters
        ----------
        folder : path
            What `save` or `hardmax train` wrote.

        Returns
        -------
        HardmaxClassifier
            Ready to predict, and to be fitted again. Of words in `exclude` and `stop_words`, which
            may be names, a folder only has how many there were, and of `vectors` no mapping: to fit
            it again, set them first.
        """
        model, found = TextModel.load(folder), cls()
        given, leaders = model.metrics.get("given", {}), model.metrics.get("leaders", [])
        try:
            for name in given.keys() & found.get_params().keys():
                kind = dict if name == "class_weight" else tuple  # JSON has but lists for both
                value = given[name]
                setattr(found, name, kind(value) if isinstance(value, list) else value)
            found.leaders_ = [Leader(**leader) for leader in leaders]
        except (AttributeError, TypeError, ValueError):
            wish = "expected `given` and `leaders` as `save` wrote them"
            raise InputError(f"`{Path(folder) / 'metrics.json'}` is damaged: {wish}.") from None
        found.model_, found.classes_ = model, np.array(model.classes)
        return found

    def _recorded(self) -> dict[str, Any]:
        """The parameters that are no settings, as a model keeps them."""
        weight = self.class_weight
        if isinstance(weight, Mapping):
            weight = [[plain(label), plain(value)] for label, value in weight.items()]
        return {"class_weight": weight, "column": self.column}

    def _settings(self) -> Settings:
        names = Settings.__dataclass_fields__.keys() & self.get_params().keys()
        # A grid of parameters is often a numpy array.
        given: dict[str, Any] = {name: plain(getattr(self, name)) for name in names}
        given["random_state"] = _seed(self.random_state)
        return Settings(**given)

    def _texts(self, X: Any) -> TextBytes:
        if hasattr(X, "collect_schema") and not hasattr(X, "iter_rows"):
            raise InputError("`X` is a LazyFrame: pass the table, X.collect().")
        # Of Arrow, or of pandas and polars.
        names = getattr(X, "column_names", getattr(X, "columns", None))
        if names is None and self.column is None:
            return read_texts(X, "`X`")
        if names is None:
            problem = f"`column` is {shorten(self.column)}, but `X` is a {type(X).__name__}"
            raise InputError(f"{problem}: expected a DataFrame.")
        column = names[0] if self.column is None and len(names) == 1 else self.column
        if column not in list(names):
            there = ", ".join(map(str, names))
            wish = f"the column of the texts in `X`, one of {there}"
            raise InputError(f"`column` must be {wish}, not {shorten(column)}.")
        return read_texts(X[column], f"`X`, column {shorten(column)},")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def _seed(random_state: Any) -> int:
    if isinstance(random_state, int | np.integer):
        return check_int(random_state, "`random_state`", at_least=0, at_most=_LARGEST_SEED)
    try:
        return int(check_random_state(random_state).randint(_LARGEST_SEED))
    except Exception:  # a ValueError of scikit-learn, or of whatever was given
        came = shorten(random_state)
        raise InputError(
            f"`random_state` must be a whole number or a RandomState, not {came}."
        ) from None


def _read_weights(sample_weight: Any, texts: int) -> np.ndarray:
    """One weight for each text; all ones for None, one number for all of them."""
    if sample_weight is None:
        return np.ones(texts)
    weights = float_array(sample_weight, "`sample_weight`")
    weights = np.full(texts, weights) if np.ndim(sample_weight) == 0 else weights
    if weights.shape != (texts,):
        raise InputError(
            f"`sample_weight` has shape {weights.shape}: expected ({texts},), one for each text."
        )
    if not np.isfinite(weights).all() or weights.min() < 0:
        raise InputError("`sample_weight` must be finite numbers, none of them negative.")
    return weights


def _read_targets(y: Any, texts: int) -> tuple[np.ndarray, np.ndarray]:
    """The different labels in order, of the dtype in which they were given, and the number of each
    text's label."""
    if y is None:
        raise InputError(
            "`y`: HardmaxClassifier requires y to be passed, but the target y is None."
        )
    check_numeric(y, "`y`")
    try:
        labels = column_or_1d(y, warn=True)
    except Exception:  # of scikit-learn, or of whatever was given
        raise InputError(
            "`y` must hold one label for each text: give a list or a column of labels."
        ) from None
    if len(labels) != texts:
        raise InputError(
            f"`y` has {len(labels)} labels for {texts} texts: expected one for each text."
        )
    if labels.dtype.kind in "fO":
        for row, label in enumerate(labels.tolist()):
            if is_missing(label):
                raise InputError(
                    f"`y` row {row} is missing (NaN): give the text a label, or leave it out."
                )
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        raise InputError(
            "`y` has fractions. Unknown label type: continuous. Give every text a class."
        )
    if labels.dtype.kind == "U" and isinstance(y, list | tuple):
        # numpy makes texts of all of them, and 1 would come back as "1".
        other = next((label for label in y if not isinstance(label, str)), "")
        if not isinstance(other, str):
            raise InputError(
                f"`y` mixes texts with {shorten(other)}: give all labels as texts, or none."
            )
    try:
        classes, numbers = np.unique(labels, return_inverse=True)
    except Exception as error:  # whatever comparing labels raises
        why = shorten(str(error), 80)
        raise InputError(
            f"`y` has labels that cannot be put in order: {why}. Give texts or numbers."
        ) from None
    if len(classes) < 2:
        raise InputError(f"`y` has only one class, {classes.tolist()[0]!r}: expected at least two.")
    return classes, numbers.astype(int)
