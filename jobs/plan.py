"""spark-submit jobs/plan.py …: `ppdp plan` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["plan", *sys.argv[1:]])
