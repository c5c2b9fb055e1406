"""Entry of the process that takes one measurement or makes one table: `python -m benchmarks.one REQUEST`."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from benchmarks import catalog, tables
from benchmarks.bench import Bench


def main() -> None:
    request = json.loads(Path(sys.argv[1]).read_text())
    data, scratch, result = (Path(request[key]) for key in ("data", "scratch", "result"))
    bench = Bench(request["parameters"], request["repeats"], data=data, scratch=scratch, result=result)
    if request["scenario"] is None:
        tables.make(bench, request["parameters"]["table"])
    else:
        module = catalog.SCENARIOS[request["scenario"]].module
        importlib.import_module(f"benchmarks.{module}").measure(bench)


if __name__ == "__main__":
    main()
