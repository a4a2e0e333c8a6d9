"""How sure a fitted model is: covariance and summary of its coefficients, intervals of its predictions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from lineal.designs.center import less
from lineal.designs.design import Design
from lineal.errors import InputError
from lineal.ground.arrays import Array
from lineal.losses import likelihoods
from lineal.losses.loss import Loss
from lineal.model.encoder import Encoder
from lineal.model.feature_map import FeatureMap, inputs
from lineal.model.posterior import Interval, normal, posterior_rows, predictive
from lineal.model.summary import POSTERIOR, Likelihood, Summary, contrasted, no_errors, shares, table
from lineal.model.target import Target
from lineal.model.verdict import Verdict
from lineal.penalties.penalty import Penalty


class Uncertainty(ABC):
    """The part of a Model that says how sure it is."""

    coef: Array
    columns: tuple[str, ...]
    loss: Loss
    penalty: Penalty
    target: Target
    verdict: Verdict
    encoder: Encoder | None
    training: Mapping[str, Any]
    report: Mapping[str, Any]
    arrays: Mapping[str, npt.NDArray[Any]]
    feature_map: FeatureMap | None

    def covariance(self) -> Array:
        """Return the covariance matrix of the coefficients: estimated for an unpenalized fit, or that of a posterior.

        Squared loss: ``sigma^2 (X'SX)^-1`` with ``sigma^2 = RSS / (S - columns)``; otherwise the inverse of the
        observed information. Model bayes: ``sigma^2 (X'SX + sigma^2/tau^2 D)^-1``. Output-major where there are several
        outputs.
        """
        if "covariance" not in self.arrays:
            raise InputError(
                self.training.get("no_covariance")
                or "this model carries no covariance: it was fitted with a penalty, its coefficients are not unique or too "
                "many to keep it, or there are no more rows than coefficients."
            )
        return np.asarray(self.arrays["covariance"])

    def summary(self, level: float = 0.95, against: str | None = None) -> Summary:
        """Return every coefficient with its standard error, test, p-value and interval, and how likely the data are.

        For fits without a penalty whose loss is a likelihood; standard errors are classical (``lineal.summarise`` has
        robust ones). ``against`` names the class that the others are compared with where there are several; without
        it each is compared with the mean of all. Model bayes has the mean, standard deviation and interval of the posterior.
        """
        if self.variances is not None:
            return self._posterior(level, against)
        self.refuse_summary()
        covariance = self.covariance()
        return self.summarised(self.likelihood(), covariance, "classical", level=level, against=against)

    def diagnostics(self, data: Any, y: Any = None, **options: Any) -> Any:
        """Return how the fit disagrees with the rows it was fitted on: ``lineal.diagnostics(model, data, ...)``."""
        import lineal  # (the public name: what looks at rows again stands above models)

        return lineal.diagnostics(self, data, y, **options)  # type: ignore[arg-type]  # (self is a Model)

    def likelihood(self, base: float | None = None) -> Likelihood:
        """Return what the log-likelihood, AIC and tests of this fit are computed from.

        ``base`` is the part of the log-likelihood of counts that does not depend on coefficients; None if not known.
        """
        self._likely()
        evidence: Mapping[str, Any] = self.verdict.evidence
        if "weight_sum" not in self.training or evidence.get("objective") is None:
            raise InputError("this model does not say how many rows it was fitted on or what it reached: fit it again.")
        return Likelihood(
            loss=self.loss,
            observations=float(self.training["weight_sum"]),
            columns=len(self.columns),
            intercept=self.has_intercept,
            objective=float(evidence["objective"]),
            baseline_objective=float(evidence["null_objective"]),
            base=base if self.loss.has_base else 0.0,
        )

    def summarised(
        self,
        likelihood: Likelihood,
        covariance: Array,
        errors: str,
        *,
        level: float = 0.95,
        against: str | None = None,
        freedom: float | None = None,
    ) -> Summary:
        """Return the summary with a given covariance of the coefficients, output-major; ``errors`` says which it is.

        ``freedom`` replaces the degrees of freedom of t, for squared loss.
        """
        names, spread, notes = self.outputs, covariance, list[str]()
        columns, coef = self.readable()
        spelled = None if self.encoder is None else self.encoder.powers
        if spelled is not None:
            covariance = spread = spelled.covariance(covariance, self.coef.shape[1])
        title = f"{self.loss.summary_title()} of {self.target.name}"
        left = likelihood.freedom if freedom is None else freedom
        squares = None
        if self.loss.estimates_noise and coef.shape[1] > 1:
            total = 2.0 * likelihood.observations * likelihood.objective
            squares = shares(self.covariance(), len(self.columns), total)
        if self.loss.multinomial:
            if against is not None:
                coef, spread, names = contrasted(coef, covariance, names, against)
            whom = "the mean of all classes" if against is None else f"class {against}"
            notes.append(f"Each coefficient is for the log of the odds of its class against {whom}.")
        elif against is not None:
            raise InputError(f"there is nothing to compare with {against!r}: the model has one score; leave it out.")
        if self.loss.logit:
            classes = self.target.classes or ("0", "1")
            notes.append(f"Coefficients are for the log of the odds of {classes[1]} against {classes[0]}.")
        notes += [] if self.aside is None else [self.aside]
        notes += self.filled_notes
        if likelihood.base is None:
            notes.append("The log-likelihood of counts needs the data: lineal.summarise(model, data).")
        return Summary(
            title=title,
            rows=table(coef, spread, columns, names, freedom=left, level=level),
            errors=errors,
            test="z" if left is None else "t",
            level=level,
            freedom=left,
            figures=likelihood.figures(squares),
            notes=tuple(notes),
            ratio=self.loss.ratio,
        )

    @property
    def filled_notes(self) -> tuple[str, ...]:
        """A sentence about numbers that were missing and filled in, which p-values take for measured; none if none was."""
        columns = (self.report.get("data") or {}).get("columns", ())
        filled = {one["column"]: int(one["missing"]) for one in columns if one["missing"] and one["type"] != "category"}
        if not filled:
            return ()
        count, shown = sum(filled.values()), ", ".join(map(repr, list(filled)[:4]))
        more = f" and {len(filled) - 4} more columns" if len(filled) > 4 else ""
        cells = "1 missing cell" if count == 1 else f"{count:,} missing cells"
        verb = "was" if count == 1 else "were"
        sentence = (
            f"Standard errors and p-values take {cells} of {shown}{more}, which {verb} filled in, for measured; --missing "
            "drop (missing='drop') fits the complete rows alone."
        )
        return (sentence,)

    @property
    def variances(self) -> tuple[float, float] | None:
        """Noise and prior variance, sigma^2 and tau^2, of model bayes; None for other models."""
        known = self.report.get("bayes")
        return None if not known else (float(known["noise"]), float(known["prior"]))

    def interval(self, data: object, level: float = 0.95, offset: Array | None = None) -> Interval:
        """Return for every row where its target is expected: mean, standard deviation and interval.

        ``sd^2 = sigma^2 + x' covariance x``. Model bayes: normal, with its noise variance; least squares without a penalty:
        Student's t, ``sigma^2 = RSS / (S - columns)``. Model gp: normal, with the
        variance of its posterior. ``level`` is the probability that the target is inside.

        >>> import lineal
        >>> table = {"dose": [0.0, 1.0, 2.0, 3.5], "effect": [0.1, 1.1, 1.9, 3.6]}
        >>> model = lineal.fit(table, "effect", model="bayes:noise=0.01,prior=4")
        >>> model.interval({"dose": [2.0]}).sd.round(4)
        array([0.1127])
        """
        if self.feature_map is not None:
            design = self.design(data)
            variance = self.feature_map.target_variance(inputs(design))
            if variance is not None:
                return normal(self.means(design, self._offset(data, offset))[:, 0], variance, level)
        if self.target.kind != "number" or self.coef.shape[1] != 1 or not self.loss.estimates_noise:
            raise InputError("a prediction interval is for one number with normal noise: model gp, bayes, or linear.")
        if self.variances is None:
            self.refuse_summary()
            likelihood = self.likelihood()
            freedom = likelihood.freedom
            assert freedom is not None  # (its noise is estimated)
            noise = 2.0 * likelihood.observations * likelihood.objective / freedom if freedom > 0.0 else 0.0
        else:
            noise, freedom = self.variances[0], None
        covariance, design = self.covariance(), self.design(data)
        center = self.arrays.get("center")
        about = design if center is None else less(design, center)
        shift = self._offset(data, offset)
        mean = self.means(design, shift)[:, 0]
        return predictive(mean, about, covariance, noise, level, freedom)

    def _posterior(self, level: float, against: str | None) -> Summary:
        """Return the posterior of the coefficients of model bayes."""
        if against is not None:
            raise InputError(f"there is nothing to compare with {against!r}: the model has one score; leave it out.")
        covariance = self.covariance()
        columns, coef = self.readable()
        spelled = None if self.encoder is None else self.encoder.powers
        if spelled is not None:
            covariance = spelled.covariance(covariance, 1)
        known = self.report["bayes"]
        figures = {"observations": float(self.training["weight_sum"])}
        figures |= {name: float(known[name]) for name in ("noise", "prior", "degrees", "log_evidence")}
        how = {
            (): "Both variances maximise the evidence.",
            ("noise",): "The noise variance is given, the prior one maximises the evidence.",
            ("prior",): "The prior variance is given, that of the noise maximises the evidence.",
        }.get(tuple(known.get("given", ())), "Both variances are given.")
        seen = {"raw": "b_j", "variance": "sd_j b_j"}.get(
            str(self.report.get("charges")), "each coefficient as penalized"
        )
        notes = [f"{how} The prior variance is that of {seen}.", *([] if self.aside is None else [self.aside])]
        return Summary(
            title=f"Bayesian linear regression of {self.target.name}",
            rows=posterior_rows(coef, covariance, columns, self.outputs[0], level),
            errors=POSTERIOR,
            test="",
            level=level,
            figures=figures,
            notes=tuple(notes),
            covariance=tuple(map(tuple, covariance.tolist())),
        )

    def refuse_summary(self) -> None:
        """Raise InputError, with what to do instead, where standard errors and p-values would mean nothing."""
        if self.feature_map is not None:
            raise InputError(
                "the coefficients of this model multiply columns that are made of training rows, so they have no standard "
                "errors; ask lineal show what it holds."
            )
        self._likely()
        reason = no_errors(self.penalty, self.verdict.kind, self.verdict.sentence)
        if reason is not None:
            raise InputError(reason)

    def _likely(self) -> None:
        if not self.loss.likelihood:
            names = ", ".join(loss.name for loss in likelihoods())
            raise InputError(
                f"{self.loss.name} loss is not the likelihood of anything, so it has no log-likelihood and no standard "
                f"errors; bootstrap the fit, or use one of {names}."
            )

    # What a Model has beside these.

    @property
    @abstractmethod
    def has_intercept(self) -> bool:
        """Whether the first column is the intercept."""

    @property
    @abstractmethod
    def outputs(self) -> list[str]:
        """A name for each output."""

    @property
    @abstractmethod
    def aside(self) -> str | None:
        """What a reader of the coefficients has to know of the center."""

    @abstractmethod
    def readable(self) -> tuple[tuple[str, ...], Array]:
        """Return names and coefficients as people write them."""

    @abstractmethod
    def design(self, data: object) -> Design:
        """Return the design of new data."""

    @abstractmethod
    def means(self, data: object, offset: Array | None = None) -> Array:
        """Return the predicted mean of every row."""

    @abstractmethod
    def _offset(self, data: object, offset: Array | None) -> Array | None:
        """Return the offset of every row."""
