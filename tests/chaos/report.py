"""Adds up what the worlds did."""

import collections


class Report:
    def __init__(self, options, results):
        self.seed, self.results = options.seed, results
        self.violations = [violation for result in results for violation in result["violations"]]

    def figures(self):
        counts, acknowledged, troubles, worlds, minutes = (collections.Counter() for _ in range(5))
        for result in self.results:
            counts.update(result["counts"])
            acknowledged.update(result["acknowledged"])
            troubles.update(result["troubles"])
            worlds[result["world"]] += result["counts"].get("rounds", 0)
            minutes[result["world"]] += result["seconds"] / 60
        seconds = sum(result["seconds"] for result in self.results)
        return {"seed": self.seed, "machine seconds": round(seconds), "rounds": dict(worlds),
                "minutes": {world: round(spent, 1) for world, spent in minutes.items()}, "counts": dict(sorted(counts.items())),
                "acknowledged": dict(sorted(acknowledged.items())), "refused or unanswered": dict(troubles.most_common(20)),
                "violations": self.violations}

    def table(self):
        figures = self.figures()
        lines = ["| what | how many |", "|---|---|"]
        for group in ("counts", "acknowledged", "rounds", "minutes"):
            lines += [f"| {group}: {what} | {number:,} |" for what, number in figures[group].items()]
        lines += [f"| machine time | {figures['machine seconds'] / 60:.1f} min |", f"| violations | {len(self.violations)} |"]
        lines += [f"  {times} x {text}" for text, times in figures["refused or unanswered"].items()]
        return "\n".join(lines)
