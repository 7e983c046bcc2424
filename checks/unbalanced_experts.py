from tpudiag.model import Evidence, Finding, Judgement, NotMeasured, Severity, check
from tpudiag.signals import ExpertRouting, Signals

from ._loop import numerics_of

LIMIT = 1.0
"""Places of all experts for each token that is sent, below which tokens must be dropped."""
ROUNDED = 8
"""Rows to which a TPU fills up the second last dimension of a tensor."""


@check("TPU509", Severity.WARNING)
def unbalanced_experts(signals: Signals, limit: float = LIMIT) -> Judgement:
    """A mixture of experts has fewer places than tokens.

    ## What it sees
    Top-k (or argmax) choices of the traced step whose indices are made one-hot over the experts,
    and the capacity that each expert has for them: tokens x k compared with experts x capacity. The
    distribution of tokens at run time is not seen.

    ## Why it costs
    A token without a place is dropped: it skips the layer, in training, and no log says so. With
    fewer places than choices that happens at every step, however well the router balances. A
    capacity that is no multiple of 8 is padded to one and computed.

    ## What to do
    ```python
    capacity = int(math.ceil(1.25 * tokens * k / experts / 8) * 8)   # capacity factor 1.25
    ```

    ## Source
    arXiv:2101.03961 (Switch Transformer, sections 2.2 and B)
    """
    known = [routing for routing in numerics_of(signals).routings if routing.places is not None]
    if not known:
        raise NotMeasured(
            "no top-k dispatch to experts of a fixed capacity was seen",
            "nothing to do for a model without experts; else log the tokens of each expert",
        )
    for routing in known:
        sent = routing.tokens * routing.chosen
        if (routing.places or 0) < limit * sent:
            yield _finding(routing, sent, limit)
        yield Evidence(
            f"places for each choice of {routing.name}",
            round((routing.places or 0) / sent, 3),
            limit=limit,
        )


def _finding(routing: ExpertRouting, sent: int, limit: float) -> Finding:
    places = routing.places or 0
    # 1.25 times an even share, in whole numbers: the capacity factor of the paper.
    even = -(-sent * 5 // (4 * routing.experts))
    capacity = -(-even // ROUNDED) * ROUNDED
    return Finding(
        f"{routing.tokens:,} tokens choose {routing.chosen} of {routing.experts} experts with "
        f"{routing.capacity} places each: at least {1 - places / sent:.0%} of the choices are "
        "dropped at every step.",
        f"capacity = {capacity}  # 1.25 x tokens x k / experts, a multiple of {ROUNDED}",
        (
            Evidence("choices", sent, "choices"),
            Evidence("places", places, "places", int(limit * sent)),
            Evidence("experts", routing.experts, "experts"),
        ),
        routing.location,
    )
