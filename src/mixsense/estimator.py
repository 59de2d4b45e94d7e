"""A scikit-learn estimator over `fit`: pipelines, grid search, cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from mixsense.arrays import Array
from mixsense.checks import counted, require
from mixsense.errors import InvalidInput
from mixsense.fitting.fit import fit_table
from mixsense.frames import is_missing
from mixsense.problem import DEFAULTS
from mixsense.recovery import Recovery

try:
    from sklearn.base import BaseEstimator, RegressorMixin
    from sklearn.utils.metaestimators import available_if
except ModuleNotFoundError:  # the class can be looked at, and says what is missing when it is made

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands for scikit-learn's where that is not installed."""

        def __new__(cls, *arguments: Any, **named: Any) -> Any:
            """Say what to install."""
            require("sklearn", "sklearn", "SparseMixtureRegressor needs")

    class RegressorMixin:  # type: ignore[no-redef]
        """Stands for scikit-learn's where that is not installed."""

    def available_if(check: Any) -> Any:
        """Return a decorator that changes nothing."""
        return lambda method: method


def _knows_groups(estimator: Any) -> bool:
    """Probabilities are those of groups: without any there is nothing to tell one row from another."""
    if getattr(estimator, "groups_", None) is None:
        raise AttributeError("predict_proba is there after fit(X, y, groups=...): without groups use responsibilities")
    return True


class SparseMixtureRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Mixture of sparse linear regressions, as many as the answers support, as a scikit-learn estimator.

    Parameters
    ----------
    models : int or "auto"
        How many models there are.
    sigma : float, optional
        Standard deviation of the noise; found if left out, one for each model if the answers ask for it.
    weights : sequence of float or str, optional
        Shares of the models, "equal" or "estimate".
    scale : Rating, Probability or dict, optional
        What an answer is, if it is no real number.
    fit_intercept : bool
        Each model has a constant of its own.
    random_state : int, RandomState instance or None
        Seed of the random starts; None is always the same one.

    Attributes
    ----------
    recovery_ : Recovery
        The result, with standard errors, status and diagnostics.
    coef_ : (L, n_features) array
        A row for each model, the largest share first.
    intercept_ : (L,) array
        The constants; 0 without an intercept.
    weights_ : (L,) array
        The shares.
    n_models_ : int
        How many models there are.
    groups_ : dict or None
        After a fit with groups: label → (L,) probabilities of the models that the group's answers show.
    n_features_in_ : int
        Number of columns in `fit`.
    feature_names_in_ : array of str
        Their names, where `X` has names that are all texts.

    Examples
    --------
    >>> import numpy as np, mixsense as ms
    >>> rng, people = np.random.default_rng(1), np.repeat(np.arange(100), 4)
    >>> X = rng.standard_normal((400, 5))
    >>> y = np.where(people % 4, 4.0, -2.0) * X[:, 0] + X[:, 1] + 0.5 * rng.standard_normal(400)
    >>> model = ms.SparseMixtureRegressor().fit(X, y, groups=people)
    >>> model.n_models_, model.coef_[:, 0].round().tolist()
    (2, [4.0, -2.0])
    >>> model.predict(np.eye(5)[:1]).round(1).tolist()  # of whoever comes: 0.75 · 4 − 0.25 · 2
    [2.5]
    >>> model.predict(np.eye(5)[:1], groups=[8]).round().tolist()  # of person 8, whose answers are known
    [-2.0]
    """

    def __init__(
        self,
        models: int | str = DEFAULTS["models"],
        *,
        sigma: float | None = None,
        weights: Sequence[float] | str | None = None,
        scale: Any = None,
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.models = models
        self.sigma = sigma
        self.weights = weights
        self.scale = scale
        self.fit_intercept = fit_intercept
        self.random_state = random_state

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> SparseMixtureRegressor:
        """Find the models.

        Parameters
        ----------
        X : (n_samples, n_features) array_like or data frame
            What was asked.
        y : (n_samples,) array_like
            The answers.
        sample_weight : (n_samples,) array_like, optional
            How often each row counts.
        groups : (n_samples,) array_like, optional
            Who answered: rows with equal labels share a model.

        Returns
        -------
        SparseMixtureRegressor
            Itself.
        """
        from sklearn.utils.validation import validate_data

        X, y = validate_data(self, X, y, dtype=np.float64, y_numeric=True, ensure_min_samples=2)
        names = [str(name) for name in getattr(self, "feature_names_in_", ())] or None
        known = self.models, self.sigma, self.weights, self.scale, self.fit_intercept, names, self._seed()
        self.recovery_: Recovery = fit_table(X, y, groups, *known, self._weights_of(sample_weight, X))
        r = self.recovery_
        self.coef_, self.weights_, self.n_models_ = r.vectors, r.weights, len(r.vectors)
        self.intercept_ = np.zeros(self.n_models_) if r.intercept is None else r.intercept
        self.groups_ = None if groups is None else _by_label(groups, r.responsibilities(X, y, groups))
        return self

    def predict(self, X: Any, groups: Any = None, given: tuple[Any, Any, Any] | None = None) -> Array:
        """Return the expected answers.

        Parameters
        ----------
        X : (n_samples, n_features) array_like or data frame
            What is asked.
        groups : (n_samples,) array_like, optional
            Who is asked. Of somebody whose other answers are known, from the fit or from `given`, the answer of the
            model that is responsible for these is expected, each weighed with its probability; of all others, and by
            default, the mean over the shares. A warning counts groups of which nothing is known; a missing label
            (None, NaN) is somebody of whom nothing is.
        given : (X, y, groups), optional
            Other answers, and who gave them; in place of those of the fit.

        Returns
        -------
        (n_samples,) array
        """
        X = self._checked(X)
        means = X @ self.coef_.T + self.intercept_
        if (scale := self.recovery_.scale) is not None:
            means = scale.predict(means, self.recovery_.sigma)
        expected: Array = (means * self._probabilities(len(X), groups, given)).sum(axis=1)
        return expected

    @available_if(_knows_groups)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any, groups: Any = None, given: tuple[Any, Any, Any] | None = None) -> Array:
        """Return the probability of each model to answer, (n_samples, L); there only after a fit with groups.

        Parameters
        ----------
        X : (n_samples, n_features) array_like or data frame
            What is asked.
        groups : (n_samples,) array_like, optional
            Who is asked; the shares of the models for whoever is not known.
        given : (X, y, groups), optional
            Other answers, and who gave them; in place of those of the fit.
        """
        return self._probabilities(len(self._checked(X)), groups, given)

    def responsibilities(self, X: Any, y: Any, groups: Any = None) -> Array:
        """Return the probability that each answer came from each model, (n_samples, L); see `Recovery`."""
        return self.recovery_.responsibilities(self._checked(X), y, groups)

    def _checked(self, X: Any) -> Array:
        from sklearn.utils.validation import check_is_fitted, validate_data

        check_is_fitted(self)
        return np.asarray(validate_data(self, X, dtype=np.float64, reset=False))

    def _probabilities(self, count: int, groups: Any, given: tuple[Any, Any, Any] | None) -> Array:
        known = self.groups_ or {}
        if given is not None:
            if groups is None or len(given) != 3:
                raise InvalidInput("given is for groups: give given=(X, y, groups), and groups of the rows to predict")
            known = _by_label(given[2], self.responsibilities(*given))
        if groups is None:
            return np.tile(self.weights_, (count, 1))
        labels = _labels(groups)
        if len(labels) != count:
            raise InvalidInput(f"groups has {len(labels)} labels for {count} rows: give one for each")
        if unknown := {label for label in labels if not is_missing(label) and label not in known}:
            one = len(unknown) == 1
            text = (
                f"{counted(len(unknown), 'group')} without an answer in {'the fit' if given is None else 'given'}: "
                f"the mean over the shares is taken for {'it' if one else 'them'}; given=(X, y, groups) tells of others"
            )
            warnings.warn(text, UserWarning, stacklevel=3)
        return np.stack([self.weights_ if is_missing(label) else known.get(label, self.weights_) for label in labels])

    def _seed(self) -> Any:
        state = self.random_state
        return int(state.randint(np.iinfo(np.int32).max)) if isinstance(state, np.random.RandomState) else state

    def _weights_of(self, sample_weight: Any, X: Array) -> Array | None:
        if sample_weight is None:
            return None
        from sklearn.utils.validation import _check_sample_weight

        return np.asarray(_check_sample_weight(sample_weight, X, dtype=np.float64))


def _labels(groups: Any) -> list[Any]:
    return list(np.asarray(groups, dtype=object).ravel())


def _by_label(groups: Any, probabilities: Array) -> dict[Any, Array]:
    """Return what is known of each group; a missing label is nobody, of whom nothing is known."""
    pairs = zip(_labels(groups), probabilities, strict=True)
    return {label: known for label, known in pairs if not is_missing(label)}
