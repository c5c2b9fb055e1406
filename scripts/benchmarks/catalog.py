"""All scenarios by name, in the order in which they run."""

from __future__ import annotations

from benchmarks import anonymize, check, floor, kernel, peers, suppress, textbook
from benchmarks.scenario import Scenario

SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        kernel.SCENARIO,
        floor.SCENARIO,
        anonymize.SCENARIO,
        check.SCENARIO,
        suppress.SCENARIO,
        suppress.DECISION,
        textbook.SCENARIO,
        peers.SCENARIO,
    )
}
