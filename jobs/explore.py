"""spark-submit jobs/explore.py …: the command `ppdp explore` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["explore", *sys.argv[1:]])
