"""The race detector against every legal order of random tiny programs."""

from __future__ import annotations

import pytest

from race_maker import make
from race_oracle import compare

BATCHES, BATCH, MOST_STATES = 6, 50, 4000


@pytest.mark.parametrize("first", range(5000, 5000 + BATCHES * BATCH, BATCH))
def test_the_detector_agrees_with_every_order_of_random_programs(first):
    """Nothing is reported that is not so; nothing is missed but where a
    semaphore is set, lowered, or consumed and awaited by several engines."""
    print(f"seeds {first} to {first + BATCH - 1}")
    judged = racy = 0
    for seed in range(first, first + BATCH):
        tiny = make(seed)
        verdict = compare(tiny, MOST_STATES)
        judged += "too many" not in verdict.kind
        racy += "racy" in verdict.kind
        wrong = {name: text for name, text in verdict.disagreements.items()
                 if not (name.startswith("miss") and name.endswith("loose"))}
        assert not wrong, f"seed {seed}\n{tiny}\n{wrong}"
    assert judged > BATCH // 2 and 5 < racy < BATCH - 5
