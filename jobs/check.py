"""spark-submit jobs/check.py …: the command `ppdp check` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["check", *sys.argv[1:]])
