"""spark-submit jobs/compose.py …: the command `ppdp compose` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["compose", *sys.argv[1:]])
