"""What the runs of a session need in prompts, and which of those that say some words still do as they are sent."""

from collections.abc import Hashable
from dataclasses import dataclass

from sessions_app.domain.candidates import Excerpt
from sessions_app.domain.deciding import Terms
from sessions_app.domain.following.built import kept_without, says
from sessions_app.domain.following.phrase import Phrase
from sessions_app.domain.following.recorded import SaidRuns
from sessions_app.domain.pieces import segments_of
from sessions_app.domain.replays.recording import Weights, weight_of
from sessions_app.domain.replays.replay import rendering_of
from sessions_app.domain.run_tokens import are_exact
from sessions_app.models import Said, Session, SessionRecording


@dataclass(frozen=True, slots=True)
class WeighedRuns:
    """What runs need in some terms, and which of those that say the words still do."""

    weights: Weights
    said: SaidRuns


class WeighingOfRuns:
    """Weighs the runs of a session once for each kind of terms."""

    def __init__(self, session: Session, phrase: Phrase, said: Said) -> None:
        self._session, self._phrase, self._said = session, phrase, said
        self._weighed: dict[Hashable, WeighedRuns] = {}

    def __call__(self, terms: Terms) -> WeighedRuns:
        """Return what they need in these terms: as it is stored where that tells it, else rendered."""
        is_stored = are_exact(terms.values, terms.counter)
        key = None if is_stored else (terms.values.format, terms.result_limits)
        if key not in self._weighed:
            self._weighed[key] = self._stored() if is_stored else self._rendered(terms)
        return self._weighed[key]

    def _stored(self) -> WeighedRuns:
        """Take what is stored with runs, which are sent as they are."""
        weights, positions = Weights(), self._said.positions
        for weight in SessionRecording(self._session).all_weights():
            weights.add(weight)
        return WeighedRuns(weights, SaidRuns(positions, positions))

    def _rendered(self, terms: Terms) -> WeighedRuns:
        """Render every run, and see which of those that say the words still do."""
        weights, rendering = Weights(), rendering_of(terms)
        hits, sent, unsent = {hit.position: hit for hit in self._said.hits}, [], {}
        for run in SessionRecording(self._session).all_runs():
            weights.add(weight_of(run, rendering))
            if run.position not in hits:
                continue
            pieces = rendering(Excerpt(run), gap=0, newer=0).pieces
            if any(says(segment, self._phrase) for segment in segments_of(pieces)):
                sent.append(run.position)
            else:
                left_out, hidden = terms.renderer.left_out(run), terms.values.keep_tool_results is not None
                why = kept_without(hits[run.position], terms.values, left_out=left_out, hidden=hidden)
                unsent[run.position] = why
        return WeighedRuns(weights, SaidRuns(list(hits), sent, unsent))
