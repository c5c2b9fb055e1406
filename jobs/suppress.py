"""spark-submit jobs/suppress.py …: the command `ppdp suppress` on the cluster that spark-submit names."""

import sys

from ppdp_spark.cli.app import app

if __name__ == "__main__":
    app(["suppress", *sys.argv[1:]])
