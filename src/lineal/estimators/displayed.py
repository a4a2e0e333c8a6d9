"""How an estimator looks in a notebook: its verdict, then what scikit-learn shows of it."""

from __future__ import annotations

import html
from collections.abc import Callable

from sklearn import get_config
from sklearn.utils import estimator_html_repr

from lineal.estimators.convergence import Warned


class Displayed(Warned):
    """An estimator that shows ``verdict_`` first, once it has one."""

    @property
    def _repr_html_(self) -> Callable[[], str]:
        """The display of a notebook; absent where scikit-learn is configured to show text."""
        if get_config()["display"] != "diagram":
            raise AttributeError("_repr_html_ exists only when scikit-learn's display is 'diagram'")
        return self._display

    def _repr_mimebundle_(self, **_kwargs: object) -> dict[str, str]:
        """Return the display for notebooks that ask for all formats at once."""
        text = {"text/plain": repr(self)}
        return {**text, "text/html": self._display()} if get_config()["display"] == "diagram" else text

    def _display(self) -> str:
        """Return the verdict's sentence, then scikit-learn's diagram."""
        diagram = str(estimator_html_repr(self))
        verdict = getattr(self, "verdict_", None)
        if verdict is None:
            return diagram
        return f'<p class="lineal-verdict lineal-{verdict.kind}"><b>{html.escape(verdict.sentence)}</b></p>{diagram}'
