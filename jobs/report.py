"""spark-submit jobs/report.py …: the command `ppdp report` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["report", *sys.argv[1:]])
