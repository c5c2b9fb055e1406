"""The learned attack in plain loops: dictionaries, alternating scaling, and nothing of the package."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import log

SMOOTHING = 100.0
"""People added to those of each value, as the documentation says."""


class LearnedByLoops:
    """An adversary who learns from groups who has what.

    where
        group, people, values  of each person: the group, the classes of the quasi-identifiers, the value,
                               which is only known to be somebody's of the group
        posterior              of each person: probability by value
        history                the objective after each round
    """

    def __init__(
        self,
        group: Sequence[Hashable],
        people: Sequence[Sequence[Hashable]],
        values: Sequence[Hashable],
        *,
        settled: float,
        rounds: int = 50,
    ) -> None:
        self.people, self.all_values = people, sorted(set(values))  # type: ignore[type-var]
        self.members = {g: [i for i in range(len(people)) if group[i] == g] for g in group}
        self.counts = {g: self._counted([values[i] for i in each]) for g, each in self.members.items()}
        self.classes = [sorted({p[j] for p in people}) for j in range(len(people[0]))]  # type: ignore[type-var]
        self.history: list[float] = []
        self.posterior = self.expected({})
        for number in range(rounds):
            model = self.fitted()
            self.posterior = self.expected(model)
            self.history.append(self.objective(model))
            if number and (self.history[-1] - self.history[-2]) / len(people) <= settled:
                break

    @staticmethod
    def _counted(values):
        return {value: values.count(value) for value in values}

    def fitted(self):
        """P(class | value) by attribute."""
        model = {}
        for value in self.all_values:
            having = sum(chances.get(value, 0.0) for chances in self.posterior)
            for j, classes in enumerate(self.classes):
                for one in classes:
                    alike = [i for i, p in enumerate(self.people) if p[j] == one]
                    people = sum(self.posterior[i].get(value, 0.0) for i in alike)
                    added = SMOOTHING * len(alike) / len(self.people)
                    model[j, one, value] = (people + added) / (having + SMOOTHING)
        return model

    def weight(self, model, i, value):
        found = 1.0
        for j, one in enumerate(self.people[i]):
            found *= model.get((j, one, value), 1.0)
        return found

    def expected(self, model):
        """Weights of each group, scaled to one value a person and to the counts, in turn."""
        found: list[dict] = [{} for _ in self.people]
        for g, members in self.members.items():
            x = {(i, v): self.weight(model, i, v) for i in members for v in self.counts[g]}
            for _ in range(100_000):
                for i in members:
                    total = sum(x[i, v] for v in self.counts[g])
                    for v in self.counts[g]:
                        x[i, v] /= total
                miss = 0.0
                for v, count in self.counts[g].items():
                    total = sum(x[i, v] for i in members)
                    miss = max(miss, abs(total - count))
                    for i in members:
                        x[i, v] *= count / total
                if miss < 1e-11:
                    break
            for (i, v), chance in x.items():
                found[i][v] = chance
        return found

    def objective(self, model):
        """Σ x log w − Σ x log x, and the smoothing's Σ c π log P."""
        total = 0.0
        for i, chances in enumerate(self.posterior):
            for value, x in chances.items():
                if x > 0:
                    total += x * (log(self.weight(model, i, value)) - log(x))
        for (j, one, _), chance in model.items():
            share = sum(p[j] == one for p in self.people) / len(self.people)
            total += SMOOTHING * share * log(chance)
        return total
